-- chinook_hasura
-- Album
UPDATE "public"."Album" AS t0 SET "AlbumId" = $1 WHERE t0."AlbumId" = $2 RETURNING 1
