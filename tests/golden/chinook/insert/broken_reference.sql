-- chinook
-- Album
INSERT INTO "Album" AS t0 ("Title", "ArtistId") VALUES (?1, ?2) RETURNING "Album"."Title"
