-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE t0."Title" ~* $1 ORDER BY t0."AlbumId" LIMIT $2 OFFSET 0 * num_nulls('' ~ $1)
