-- { Artist(limit: 3) { Artist_Albums_aggregate(order_by: {Title: asc}, limit: 2) { aggregate { count max { Title } } nodes { Title } } } }

-- postgresql, yugabytedb
WITH l0 AS MATERIALIZED (SELECT t0."ArtistId" AS c0 FROM "public"."Artist" AS t0 LIMIT $1) SELECT 0::int2, l0.c0, NULL::int8, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, p.k0, x.c0, x.c1 FROM (SELECT l0.c0 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT count(*) AS c0, max(t3."Title") AS c1 FROM (SELECT t1.* FROM "public"."Album" AS t1 WHERE t1."ArtistId" = p.k0 ORDER BY t1."Title" LIMIT $2) AS t3) AS x UNION ALL SELECT 2::int2, p.k0, NULL, x.c0 FROM (SELECT l0.c0 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT t4."Title" AS c0 FROM "public"."Album" AS t4 WHERE t4."ArtistId" = p.k0 ORDER BY t4."Title" LIMIT $3) AS x
-- $1 int8 = 3
-- $2 int8 = 2
-- $3 int8 = 2

-- cockroachdb, citus
WITH l0 AS MATERIALIZED (SELECT t0."ArtistId" AS c0 FROM "public"."Artist" AS t0 LIMIT $1) SELECT 0::int2, l0.c0, NULL::int8, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, p.k0, count(t2.weir_place), max(t2."Title") FROM (SELECT l0.c0 AS k0 FROM l0) AS p LEFT JOIN (SELECT t1.*, p.k0 AS weir_key_0, row_number() OVER (PARTITION BY p.k0 ORDER BY t1."Title") AS weir_place FROM (SELECT l0.c0 AS k0 FROM l0) AS p JOIN "public"."Album" AS t1 ON t1."ArtistId" = p.k0) AS t2 ON t2.weir_key_0 = p.k0 AND t2.weir_place <= coalesce($2, 9223372036854775807) GROUP BY p.k0 UNION ALL (SELECT 2::int2, x.weir_key_0, NULL, x.c0 FROM (SELECT t3."Title" AS c0, p.k0 AS weir_key_0, row_number() OVER (PARTITION BY p.k0 ORDER BY t3."Title") AS weir_place FROM (SELECT l0.c0 AS k0 FROM l0) AS p JOIN "public"."Album" AS t3 ON t3."ArtistId" = p.k0) AS x WHERE x.weir_place <= coalesce($3, 9223372036854775807) ORDER BY x.weir_place)
-- $1 int8 = 3
-- $2 int8 = 2
-- $3 int8 = 2
