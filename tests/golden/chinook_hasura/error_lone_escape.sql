-- chinook_hasura
-- Album
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE weir_ilike(?1, t0."Title")
