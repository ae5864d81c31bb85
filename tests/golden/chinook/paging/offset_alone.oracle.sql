SELECT json_object('MediaType', json_group_array(json_object('Name', "Name"))) FROM (SELECT "Name" FROM "MediaType" ORDER BY "MediaTypeId" LIMIT -1 OFFSET 3);
