SELECT json_object('MediaType', json_group_array(json_object('Name', "Name"))) FROM "MediaType";
