-- chinook
-- Genre
INSERT INTO "public"."Genre" AS t0 ("GenreId", "Name") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "Genre_pkey" DO NOTHING RETURNING "GenreId"
