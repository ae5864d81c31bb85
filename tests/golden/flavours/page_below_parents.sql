-- { Artist(where: {ArtistId: {_lt: 4}}, order_by: {Name: desc}) { Name Artist_Albums(order_by: {Title: desc}, limit: 1, offset: 1) { Title } } }

-- postgresql, yugabytedb
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" < $1 ORDER BY t0."Name" DESC) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, x.c0, p.k0 FROM (SELECT l0.c1 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT t1."Title" AS c0 FROM "public"."Album" AS t1 WHERE t1."ArtistId" = p.k0 ORDER BY t1."Title" DESC LIMIT $2 OFFSET $3) AS x
-- $1 int4 = 4
-- $2 int8 = 1
-- $3 int8 = 1

-- cockroachdb
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" < $1 ORDER BY t0."Name" DESC NULLS FIRST) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL (SELECT 1::int2, x.c0, x.weir_key_0 FROM (SELECT t1."Title" AS c0, p.k0 AS weir_key_0, row_number() OVER (PARTITION BY p.k0 ORDER BY t1."Title" DESC) AS weir_place FROM (SELECT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Album" AS t1 ON t1."ArtistId" = p.k0) AS x WHERE x.weir_place - coalesce($3, 0) BETWEEN 1 AND coalesce($2, 9223372036854775807) ORDER BY x.weir_place)
-- $1 int4 = 4
-- $2 int8 = 1
-- $3 int8 = 1

-- citus
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" < $1 ORDER BY t0."Name" DESC) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL (SELECT 1::int2, x.c0, x.weir_key_0 FROM (SELECT t1."Title" AS c0, p.k0 AS weir_key_0, row_number() OVER (PARTITION BY p.k0 ORDER BY t1."Title" DESC) AS weir_place FROM (SELECT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Album" AS t1 ON t1."ArtistId" = p.k0) AS x WHERE x.weir_place - coalesce($3, 0) BETWEEN 1 AND coalesce($2, 9223372036854775807) ORDER BY x.weir_place)
-- $1 int4 = 4
-- $2 int8 = 1
-- $3 int8 = 1
