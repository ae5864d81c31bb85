-- chinook
-- Track_aggregate.aggregate, Track_aggregate.nodes
(SELECT 0::int2, count(*), sum(t2."TrackId"), NULL::int4 FROM (SELECT t0.* FROM "public"."Track" AS t0 ORDER BY t0."TrackId" LIMIT $1 OFFSET $2) AS t2) UNION ALL (SELECT 1::int2, NULL, NULL, t3."TrackId" FROM "public"."Track" AS t3 ORDER BY t3."TrackId" LIMIT $3 OFFSET $4)
