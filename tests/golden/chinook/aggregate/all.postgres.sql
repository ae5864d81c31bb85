-- chinook
-- Track_aggregate.aggregate, Track_aggregate.nodes
SELECT 0::int2, count(*), sum(t0."Milliseconds"), sum(t0."UnitPrice"), avg(t0."Milliseconds"), min(t0."Name"), min(t0."Milliseconds"), max(t0."Name"), max(t0."Milliseconds") FROM "public"."Track" AS t0 WHERE t0."AlbumId" = $1 UNION ALL SELECT 1::int2, NULL, NULL, NULL, NULL, t1."Name", NULL, NULL, NULL FROM "public"."Track" AS t1 WHERE t1."AlbumId" = $2
