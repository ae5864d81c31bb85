-- chinook
-- Track_aggregate.aggregate
SELECT count(*) FROM "public"."Track" AS t0 WHERE t0."UnitPrice" > $1
