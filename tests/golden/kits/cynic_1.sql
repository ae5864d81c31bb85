-- kits
-- Artist
SELECT t0."ArtistId", t0."Name" FROM "Artist" AS t0 WHERE t0."Name" = ?1

-- Artist.Artist_Albums
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 ORDER BY t0."AlbumId" LIMIT ?2

-- Artist.Artist_Albums.Album_Tracks
SELECT t0."Name", t0."UnitPrice" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 ORDER BY t0."TrackId" LIMIT ?2
