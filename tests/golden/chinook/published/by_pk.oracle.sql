SELECT json_object('Album_by_pk', json_object('Title', "Title", 'AlbumId', "AlbumId")) FROM "Album" WHERE "AlbumId" = 1;
