-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE (SELECT count(*) FROM "Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId") > ?1 ORDER BY t0."AlbumId" LIMIT ?2
