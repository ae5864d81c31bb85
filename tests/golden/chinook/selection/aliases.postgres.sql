-- chinook
-- first, second
SELECT 0::int2, t0."Title", t0."AlbumId" FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1 UNION ALL SELECT 1::int2, t1."Title", NULL FROM "public"."Album" AS t1 WHERE t1."AlbumId" = $2
