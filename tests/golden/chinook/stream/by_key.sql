-- chinook
-- Album_stream
SELECT t0."AlbumId", NULL, t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" > ?1 ORDER BY t0."AlbumId" LIMIT ?2
