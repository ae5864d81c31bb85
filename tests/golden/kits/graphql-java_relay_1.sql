-- kits
-- Genre
INSERT INTO "Genre" AS t0 ("GenreId", "Name") VALUES (?1, ?2) RETURNING "Genre"."GenreId", "Genre"."Name"
