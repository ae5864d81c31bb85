-- chinook
-- Album
SELECT t0."AlbumId" FROM "public"."Album" AS t0 ORDER BY t0."Title" DESC, t0."AlbumId" LIMIT $1
