-- chinook
-- Artist
INSERT INTO "Artist" AS t0 ("Name") VALUES (?1) RETURNING "Artist"."Name", "Artist"."ArtistId"

-- Album
INSERT INTO "Album" AS t0 ("Title", "ArtistId") VALUES (?1, ?2) RETURNING 1

-- Album
INSERT INTO "Album" AS t0 ("Title", "ArtistId") VALUES (?1, ?2) RETURNING "Album"."AlbumId"

-- Track
INSERT INTO "Track" AS t0 ("Name", "AlbumId", "MediaTypeId", "Milliseconds", "UnitPrice") VALUES (?1, ?2, ?3, ?4, ?5) RETURNING 1

-- insert_Artist_one.Artist_Albums
SELECT t0."Title", t0."AlbumId" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 ORDER BY t0."Title"

-- insert_Artist_one.Artist_Albums.Album_Tracks
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
