-- { a: Album(order_by: {Title: asc}) { Title } b: Artist_by_pk(ArtistId: 1) { Name } c: Album_aggregate { aggregate { count } nodes { Title } } }

-- postgresql, cockroachdb, yugabytedb, citus
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0 FROM "public"."Album" AS t0 ORDER BY t0."Title") SELECT 0::int2, l0.c0, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."Name", NULL FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = $1 UNION ALL SELECT 2::int2, NULL, count(*) FROM "public"."Album" AS t2 UNION ALL SELECT 3::int2, t3."Title", NULL FROM "public"."Album" AS t3
-- $1 int4 = 1
