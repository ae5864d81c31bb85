-- chinook
-- Genre
INSERT INTO "Genre" AS t0 ("GenreId", "Name") VALUES (?1, ?2) RETURNING "GenreId", "Name"

-- Genre
INSERT INTO "Genre" AS t0 ("GenreId") VALUES (?1) RETURNING "GenreId", "Name"
