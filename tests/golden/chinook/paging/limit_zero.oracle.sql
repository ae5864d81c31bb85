SELECT json_object('Album', json_array());
