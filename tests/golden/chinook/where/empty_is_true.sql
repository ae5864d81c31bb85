-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 ORDER BY t0."AlbumId" LIMIT ?1
