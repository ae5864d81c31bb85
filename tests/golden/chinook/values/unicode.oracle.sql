SELECT json_object('Artist', json_group_array(json_object('Name', "Name"))) FROM (SELECT "Name" FROM "Artist" WHERE "Name" LIKE '%ã%' ORDER BY "ArtistId" LIMIT 5);
