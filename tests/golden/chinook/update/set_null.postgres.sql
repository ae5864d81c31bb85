-- chinook
-- Track
UPDATE "public"."Track" AS t0 SET "Composer" = NULL WHERE t0."TrackId" = $1 RETURNING "Composer"
