-- chinook
-- Artist
SELECT t0."Name", t0."ArtistId" FROM "Artist" AS t0 WHERE t0."ArtistId" IN (SELECT value FROM json_each(?1)) ORDER BY t0."ArtistId"

-- Artist.Artist_Albums
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 AND weir_ilike(?2, t0."Title") ORDER BY t0."Title" DESC LIMIT ?3 OFFSET ?4
