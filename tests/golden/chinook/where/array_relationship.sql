-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE EXISTS (SELECT 1 FROM "Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND t1."Milliseconds" > ?1) ORDER BY t0."AlbumId" LIMIT ?2
