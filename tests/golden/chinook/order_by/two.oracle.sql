SELECT json_object('Track', json_group_array(json_object('AlbumId', "AlbumId", 'Name', "Name"))) FROM (SELECT "AlbumId", "Name" FROM "Track" ORDER BY "AlbumId" DESC NULLS FIRST, "Name" LIMIT 4);
