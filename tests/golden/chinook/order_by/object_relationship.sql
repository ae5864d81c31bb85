-- chinook
-- Album
SELECT t0."Title", t0."ArtistId" FROM "Album" AS t0 ORDER BY (SELECT t1."Name" FROM "Artist" AS t1 WHERE t1."ArtistId" = t0."ArtistId" LIMIT 1) DESC NULLS FIRST, t0."AlbumId" LIMIT ?1

-- Album.Album_Artist
SELECT t0."Name" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1
