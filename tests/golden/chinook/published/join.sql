-- chinook
-- Album
SELECT t0."Title", t0."ArtistId", t0."AlbumId" FROM "Album" AS t0 LIMIT ?1

-- Album.Album_Artist
SELECT t0."ArtistId" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- Album.Album_Artist.Artist_Albums
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1

-- Album.Album_Tracks
SELECT t0."AlbumId", t0."Composer", t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
