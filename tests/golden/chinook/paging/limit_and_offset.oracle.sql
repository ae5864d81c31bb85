SELECT json_object('Album', json_group_array(json_object('AlbumId', "AlbumId"))) FROM (SELECT "AlbumId" FROM "Album" ORDER BY "AlbumId" LIMIT 2 OFFSET 3);
