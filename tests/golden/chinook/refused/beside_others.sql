-- chinook
-- a
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- b
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- b.Album_Tracks
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 LIMIT ?2

-- c
SELECT t0."Name" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- d
SELECT t0."ArtistId" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- d.Artist_Albums
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 LIMIT -1 OFFSET ?2
