-- chinook
-- without
SELECT t0."Title" FROM "public"."Album" AS t0 WHERE t0."Title" ~* $1 ORDER BY t0."AlbumId" OFFSET 0 * num_nulls('' ~ $1)

-- both
SELECT t0."Title" FROM "public"."Album" AS t0 WHERE t0."Title" ~* $1 ORDER BY t0."AlbumId" OFFSET 0 * num_nulls('' ~ $1)

-- twice
SELECT t0."Name" FROM "public"."Artist" AS t0 WHERE t0."Name" ~ $1 ORDER BY t0."ArtistId" OFFSET 0 * num_nulls('' ~ $1)

-- behind
SELECT t0."Name" FROM "public"."Genre" AS t0 WHERE t0."Name" ~ $1 ORDER BY t0."GenreId" OFFSET 0 * num_nulls('' ~ $1)

-- neither
SELECT t0."Name" FROM "public"."Genre" AS t0 WHERE (t0."Name" !~* $1 AND t0."Name" !~ $2) ORDER BY t0."GenreId" OFFSET 0 * num_nulls('' ~ $1, '' ~ $2)
