-- chinook
-- Track
UPDATE "Track" AS t0 SET "Composer" = NULL WHERE t0."TrackId" = ?1 RETURNING "Track"."Composer"
