-- chinook
-- Track
SELECT t0."TrackId", t0."UnitPrice", t0."Milliseconds", t0."Bytes" FROM "public"."Track" AS t0 ORDER BY t0."TrackId" LIMIT $1
