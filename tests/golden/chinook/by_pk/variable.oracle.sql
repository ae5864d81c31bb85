SELECT json_object('Album_by_pk', json_object('Title', "Title")) FROM "Album" WHERE "AlbumId" = 7;
