-- chinook
-- Album
SELECT t0."ArtistId", t0."AlbumId" FROM "Album" AS t0 ORDER BY t0."AlbumId" LIMIT ?1

-- Album.Album_Artist
SELECT 1 FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- Album.Album_Tracks
SELECT 1 FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 LIMIT ?2
