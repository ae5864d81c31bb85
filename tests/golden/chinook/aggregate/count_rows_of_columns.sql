-- chinook
-- Track_aggregate.aggregate
SELECT count(*), count(DISTINCT quote(t0."Composer") || ',' || quote(t0."GenreId")), count(t0."Composer") FROM "Track" AS t0
