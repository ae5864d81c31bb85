-- kits
-- Genre
INSERT INTO "public"."Genre" AS t0 ("GenreId", "Name") VALUES ($1, $2) RETURNING "GenreId", "Name"
