-- chinook
-- Artist
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "Name"
