-- chinook
-- Artist
SELECT t0."Name" FROM "Artist" AS t0 WHERE weir_like(?1, t0."Name") ORDER BY t0."ArtistId" LIMIT ?2
