-- chinook
-- Artist
INSERT INTO "Artist" AS t0 ("Name") VALUES (?1) RETURNING "Artist"."ArtistId"

-- Album
INSERT INTO "Album" AS t0 ("Title", "ArtistId") VALUES (?1, ?2) RETURNING "Album"."Title", "Album"."ArtistId"

-- insert_Album.returning.Album_Artist
SELECT t0."Name" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1
