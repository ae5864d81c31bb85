-- chinook
-- Album
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE (t0."AlbumId" > ?1 AND weir_like(?2, t0."Title")) ORDER BY t0."AlbumId"
