-- chinook_hasura
-- Album
INSERT INTO "Album" AS t0 ("AlbumId", "Title", "ArtistId") VALUES (?1, ?2, ?3) RETURNING "Album"."AlbumId"
