-- chinook
-- Album
INSERT INTO "public"."Album" AS t0 ("ArtistId") VALUES ($1) RETURNING "Title"
