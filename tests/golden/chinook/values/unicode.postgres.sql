-- chinook
-- Artist
SELECT t0."Name" FROM "public"."Artist" AS t0 WHERE t0."Name" LIKE $1 ORDER BY t0."ArtistId" LIMIT $2
