-- chinook_hasura
-- Album
INSERT INTO "public"."Album" AS t0 ("AlbumId", "Title", "ArtistId") VALUES ($1, $2, $3) RETURNING 1
