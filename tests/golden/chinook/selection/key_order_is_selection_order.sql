-- chinook
-- Album
SELECT t0."Title", t0."ArtistId", t0."AlbumId" FROM "Album" AS t0 ORDER BY t0."AlbumId" DESC LIMIT ?1
