-- chinook
-- Genre
INSERT INTO "Genre" AS t0 ("GenreId", "Name") VALUES (?1, ?2) RETURNING 1

-- Genre
UPDATE "Genre" AS t0 SET "Name" = ?1 WHERE t0."GenreId" = ?2 RETURNING 1

-- Genre
DELETE FROM "Genre" AS t0 WHERE t0."GenreId" = ?1 RETURNING 1
