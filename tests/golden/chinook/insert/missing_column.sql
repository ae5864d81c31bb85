-- chinook
-- Album
INSERT INTO "Album" AS t0 ("ArtistId") VALUES (?1) RETURNING "Album"."Title"
