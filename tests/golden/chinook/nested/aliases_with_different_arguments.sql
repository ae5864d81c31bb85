-- chinook
-- Artist_by_pk
SELECT t0."ArtistId" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- Artist_by_pk.short
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 ORDER BY t0."AlbumId" LIMIT ?2

-- Artist_by_pk.last
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 ORDER BY t0."AlbumId" DESC LIMIT ?2
