-- chinook_hasura
-- Album_by_pk
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1
