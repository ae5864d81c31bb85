-- kits
-- Artist
INSERT INTO "Artist" AS t0 ("ArtistId", "Name") VALUES (?1, ?2) RETURNING "Artist"."ArtistId", "Artist"."Name"
