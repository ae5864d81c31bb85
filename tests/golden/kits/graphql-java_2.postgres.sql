-- kits
-- Artist
INSERT INTO "public"."Artist" AS t0 ("ArtistId", "Name") VALUES ($1, $2) RETURNING "ArtistId", "Name"
