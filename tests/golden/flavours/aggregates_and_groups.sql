-- { Track_aggregate(limit: 5) { aggregate { count(columns: [AlbumId, MediaTypeId], distinct: true) sum { Bytes UnitPrice } avg { Milliseconds } stddev { Milliseconds } } }
--   Album_group_by(by: ArtistId, having: {count: {_gt: 8}}, order_by: {count: desc}) { key { ArtistId Title } aggregate { count } } }

-- postgresql, cockroachdb, yugabytedb, citus
WITH l1 AS MATERIALIZED (SELECT t3."ArtistId" AS c0, NULL AS c1, count(*) AS c2 FROM "public"."Album" AS t3 GROUP BY t3."ArtistId" HAVING count(*) > $2 ORDER BY count(*) DESC) (SELECT 0::int2, count(DISTINCT (t2."AlbumId", t2."MediaTypeId")), sum(t2."Bytes"), sum(t2."UnitPrice"), avg(t2."Milliseconds"), stddev(t2."Milliseconds"), NULL::int4, NULL::text FROM (SELECT t0.* FROM "public"."Track" AS t0 LIMIT $1) AS t2) UNION ALL SELECT 1::int2, l1.c2, NULL, NULL, NULL, NULL, l1.c0, l1.c1 FROM l1
-- $1 int8 = 5
-- $2 int8 = 8
