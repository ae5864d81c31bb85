-- chinook
-- a
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- b
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- b.Album_Tracks
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 LIMIT ?2
