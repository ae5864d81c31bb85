-- chinook
-- Track_aggregate.aggregate, Track_aggregate.nodes
SELECT 0::int2, count(*), sum(t0."Bytes"), avg(t0."Bytes"), max(t0."Name"), stddev(t0."Bytes") FROM "public"."Track" AS t0 WHERE t0."TrackId" < $1 UNION ALL SELECT 1::int2, NULL, NULL, NULL, t1."Name", NULL FROM "public"."Track" AS t1 WHERE t1."TrackId" < $2
