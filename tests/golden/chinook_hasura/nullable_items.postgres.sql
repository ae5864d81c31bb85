-- chinook_hasura
-- Genre
SELECT t0."GenreId", t0."Name" FROM "public"."Genre" AS t0 WHERE (t0."GenreId" = ANY($1) AND t0."Name" = ANY($2)) ORDER BY t0."GenreId"
