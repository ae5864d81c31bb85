-- chinook
-- Track_aggregate.aggregate
SELECT count(*), count(DISTINCT (t0."Composer", t0."GenreId")), count(t0."Composer") FROM "public"."Track" AS t0
