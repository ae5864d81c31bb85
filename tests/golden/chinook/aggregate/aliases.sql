-- chinook
-- t.agg
SELECT count(*), sum(t0."Milliseconds"), sum(t0."Bytes") FROM "Track" AS t0 WHERE t0."AlbumId" = ?1

-- t.rows
SELECT t0."TrackId" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
