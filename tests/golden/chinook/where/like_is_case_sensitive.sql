-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE weir_like(?1, t0."Title") ORDER BY t0."AlbumId" LIMIT ?2
