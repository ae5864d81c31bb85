-- chinook_hasura
-- Artist
DELETE FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1 RETURNING "Artist"."ArtistId"
