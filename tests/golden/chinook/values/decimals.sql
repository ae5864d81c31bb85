-- chinook
-- Track
SELECT t0."TrackId", t0."UnitPrice", t0."Milliseconds", t0."Bytes" FROM "Track" AS t0 ORDER BY t0."TrackId" LIMIT ?1
