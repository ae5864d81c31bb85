-- native_reads
-- asc, desc, last
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0 FROM "public"."City" AS t0 ORDER BY t0."population", t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0 FROM "public"."City" AS t1 ORDER BY t1."population" DESC NULLS LAST, t1."id") SELECT 0::int2, l0.c0 FROM l0 UNION ALL SELECT 1::int2, l1.c0 FROM l1 UNION ALL (SELECT 2::int2, t3."name" FROM (SELECT t2.* FROM "public"."City" AS t2 ORDER BY t2."population" DESC, t2."id" DESC LIMIT $1) AS t3 ORDER BY t3."population", t3."id")
