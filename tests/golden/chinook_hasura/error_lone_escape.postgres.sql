-- chinook_hasura
-- Album
SELECT t0."AlbumId" FROM "public"."Album" AS t0 WHERE t0."Title" ILIKE $1
