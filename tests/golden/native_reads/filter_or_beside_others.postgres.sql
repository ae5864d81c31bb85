-- native_reads
-- wins, inner
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0 FROM "public"."City" AS t0 WHERE (t0."population" = $1 OR t0."name" = $2 OR t0."name" = $3) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0 FROM "public"."City" AS t1 WHERE ((t1."name" = $4 OR t1."name" = $5) AND t1."population" > $6) ORDER BY t1."id") SELECT 0::int2, l0.c0 FROM l0 UNION ALL SELECT 1::int2, l1.c0 FROM l1
