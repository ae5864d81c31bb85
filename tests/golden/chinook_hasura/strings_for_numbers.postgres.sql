-- chinook_hasura
-- Album
SELECT t0."AlbumId" FROM "public"."Album" AS t0 WHERE t0."AlbumId" > $1 LIMIT $2 OFFSET $3
