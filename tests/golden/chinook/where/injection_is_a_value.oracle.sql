SELECT json_object('Album', json_group_array(json_object('AlbumId', "AlbumId", 'Title', "Title"))) FROM (SELECT "AlbumId", "Title" FROM "Album" WHERE 0 ORDER BY "AlbumId" LIMIT 50);
