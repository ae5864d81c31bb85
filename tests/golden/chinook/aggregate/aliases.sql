-- chinook
-- t.agg
SELECT count(*), weir_of_numbers(sum(t0."Milliseconds"), max(t0."Milliseconds")), weir_of_numbers(sum(t0."Bytes"), max(t0."Bytes")) FROM "Track" AS t0 WHERE t0."AlbumId" = ?1

-- t.rows
SELECT t0."TrackId" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1
