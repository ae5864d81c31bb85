-- chinook
-- Album_by_pk
SELECT t0."Title", t0."AlbumId" FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1
