SELECT json_object('Album_by_pk', NULL);
