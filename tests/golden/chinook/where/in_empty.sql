-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" IN (SELECT value FROM json_each(?1)) ORDER BY t0."AlbumId" LIMIT ?2
