-- chinook
-- Track
UPDATE "public"."Track" AS t0 SET "Milliseconds" = t0."Milliseconds" + $1, "Bytes" = t0."Bytes" + $2, "Name" = $3 WHERE t0."TrackId" = $4 RETURNING "Name", "Milliseconds", "Bytes"
