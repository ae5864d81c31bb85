-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE (1 = 0) ORDER BY t0."AlbumId" LIMIT $1
