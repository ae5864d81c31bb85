-- chinook
-- Track
UPDATE "Track" AS t0 SET "Milliseconds" = weir_add(t0."Milliseconds", ?1, 32), "Bytes" = weir_add(t0."Bytes", ?2, 32), "Name" = ?3 WHERE t0."TrackId" = ?4 RETURNING "Track"."Name", "Track"."Milliseconds", "Track"."Bytes"
