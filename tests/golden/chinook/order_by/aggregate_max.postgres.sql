-- chinook
-- Album
SELECT t0."AlbumId" FROM "public"."Album" AS t0 ORDER BY (SELECT max(t1."Milliseconds") FROM "public"."Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId") DESC, t0."AlbumId" LIMIT $1
