-- chinook
-- Artist
SELECT t0."Name", t0."ArtistId" FROM "Artist" AS t0 ORDER BY (SELECT count(*) FROM "Album" AS t1 WHERE t1."ArtistId" = t0."ArtistId") DESC, t0."ArtistId" LIMIT ?1

-- Artist.Artist_Albums_aggregate.aggregate
SELECT count(*) FROM "Album" AS t0 WHERE t0."ArtistId" = ?1
