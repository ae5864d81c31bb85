SELECT json_object('Album', json_group_array(json_object('AlbumId', "AlbumId", 'Title', "Title", 'ArtistId', "ArtistId"))) FROM (SELECT * FROM "Album" LIMIT 100);
