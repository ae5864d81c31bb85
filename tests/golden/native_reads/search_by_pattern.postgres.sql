-- native_reads
-- needed, any, variable
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0 FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0 FROM "public"."City" AS t1 WHERE t1."name" ~ $2 ORDER BY t1."id"), l2 AS MATERIALIZED (SELECT t2."name" AS c0 FROM "public"."City" AS t2 WHERE t2."name" ~ $3 ORDER BY t2."id") SELECT 0::int2, l0.c0 FROM l0 UNION ALL SELECT 1::int2, l1.c0 FROM l1 UNION ALL SELECT 2::int2, l2.c0 FROM l2
