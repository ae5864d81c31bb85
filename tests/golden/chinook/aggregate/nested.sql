-- chinook
-- Artist
SELECT t0."ArtistId" FROM "Artist" AS t0 ORDER BY t0."ArtistId" LIMIT ?1

-- Artist.Artist_Albums_aggregate.aggregate
SELECT count(*), max(t0."Title") FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 AND weir_like(?2, t0."Title")

-- Artist.Artist_Albums_aggregate.nodes
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 AND weir_like(?2, t0."Title")
