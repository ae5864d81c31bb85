-- chinook
-- without
SELECT t0."Title" FROM "public"."Album" AS t0 WHERE t0."Title" ~* $1 ORDER BY t0."AlbumId"

-- both
SELECT t0."Title" FROM "public"."Album" AS t0 WHERE t0."Title" ~* $1 ORDER BY t0."AlbumId"

-- twice
SELECT t0."Name" FROM "public"."Artist" AS t0 WHERE t0."Name" ~ $1 ORDER BY t0."ArtistId"

-- behind
SELECT t0."Name" FROM "public"."Genre" AS t0 WHERE t0."Name" ~ $1 ORDER BY t0."GenreId"

-- neither
SELECT t0."Name" FROM "public"."Genre" AS t0 WHERE (t0."Name" !~* $1 AND t0."Name" !~ $2) ORDER BY t0."GenreId"
