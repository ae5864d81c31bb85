-- chinook
-- first
SELECT t0."Title", t0."AlbumId" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- second
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1
