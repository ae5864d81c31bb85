-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE (t0."AlbumId" < $1 AND EXISTS (SELECT 1 FROM "public"."Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId")) ORDER BY t0."AlbumId" LIMIT $2
