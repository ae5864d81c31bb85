-- chinook
-- Album
SELECT t0."AlbumId" FROM "public"."Album" AS t0 WHERE (t0."AlbumId" > $1 AND t0."Title" LIKE $2) ORDER BY t0."AlbumId"
