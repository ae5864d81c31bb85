-- chinook
-- Artist
INSERT INTO "Artist" AS t0 ("Name") VALUES (?1) RETURNING "Artist"."ArtistId", "Artist"."Name"

-- Artist
INSERT INTO "Artist" AS t0 ("ArtistId") VALUES (?1) RETURNING "Artist"."ArtistId", "Artist"."Name"

-- Artist
INSERT INTO "Artist" AS t0 DEFAULT VALUES RETURNING "Artist"."ArtistId", "Artist"."Name"
