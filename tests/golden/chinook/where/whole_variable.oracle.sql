SELECT json_object('Album', json_group_array(json_object('AlbumId', "AlbumId"))) FROM (SELECT "AlbumId" FROM "Album" WHERE "AlbumId" > 344 AND "Title" GLOB '*a*' ORDER BY "AlbumId");
