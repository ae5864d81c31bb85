-- chinook
-- Artist
INSERT INTO "Artist" AS t0 ("Name") VALUES (?1) RETURNING "Artist"."Name"
