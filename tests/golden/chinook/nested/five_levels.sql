-- chinook
-- Artist_by_pk
SELECT t0."ArtistId" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- Artist_by_pk.Artist_Albums
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1

-- Artist_by_pk.Artist_Albums.Album_Tracks
SELECT t0."GenreId" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 ORDER BY t0."TrackId" LIMIT ?2

-- Artist_by_pk.Artist_Albums.Album_Tracks.Track_Genre
SELECT t0."GenreId" FROM "Genre" AS t0 WHERE t0."GenreId" = ?1

-- Artist_by_pk.Artist_Albums.Album_Tracks.Track_Genre.Genre_Tracks
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."GenreId" = ?1 ORDER BY t0."TrackId" LIMIT ?2
