-- chinook
-- Artist
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "ArtistId", "Name"

-- Artist
INSERT INTO "public"."Artist" AS t0 ("ArtistId") VALUES ($1) RETURNING "ArtistId", "Name"

-- Artist
INSERT INTO "public"."Artist" AS t0 DEFAULT VALUES RETURNING "ArtistId", "Name"
