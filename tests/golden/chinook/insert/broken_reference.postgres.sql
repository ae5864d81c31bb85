-- chinook
-- Album
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) RETURNING "Title"
