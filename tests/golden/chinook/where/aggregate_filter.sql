-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE (t0."AlbumId" < ?1 AND (SELECT count(*) FROM "Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND t1."Composer" IS NULL) >= ?2) ORDER BY t0."AlbumId" LIMIT ?3
