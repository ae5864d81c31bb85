-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = t0."ArtistId" AND t1."Name" = $1) ORDER BY t0."AlbumId" LIMIT $2
