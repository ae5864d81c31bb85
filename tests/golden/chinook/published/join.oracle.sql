SELECT json_object('Album', json_group_array(json_object(
  'Title', a."Title",
  'Album_Artist', json_object('Artist_Albums', (SELECT json_group_array(json_object('Title', b."Title")) FROM "Album" b WHERE b."ArtistId" = a."ArtistId")),
  'Album_Tracks', (SELECT json_group_array(json_object('AlbumId', t."AlbumId", 'Composer', t."Composer", 'Name', t."Name")) FROM "Track" t WHERE t."AlbumId" = a."AlbumId"))))
FROM (SELECT * FROM "Album" LIMIT 30) a;
