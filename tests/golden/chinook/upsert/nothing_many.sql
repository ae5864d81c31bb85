-- chinook
-- Genre
INSERT INTO "Genre" AS t0 ("GenreId", "Name") VALUES (?1, ?2) ON CONFLICT ("GenreId") DO NOTHING RETURNING "Genre"."GenreId"
