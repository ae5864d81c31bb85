-- chinook_hasura
-- Album_by_pk
SELECT t0."Title" FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1
