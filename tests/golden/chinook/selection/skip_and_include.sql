-- chinook
-- Album
SELECT t0."AlbumId", t0."ArtistId" FROM "Album" AS t0 LIMIT ?1

-- Album.Album_Artist
SELECT t0."Name" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1
