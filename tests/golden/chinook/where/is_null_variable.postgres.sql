-- chinook
-- Track
SELECT t0."TrackId" FROM "public"."Track" AS t0 WHERE (t0."TrackId" < $1 AND t0."Composer" IS NOT NULL) ORDER BY t0."TrackId"
