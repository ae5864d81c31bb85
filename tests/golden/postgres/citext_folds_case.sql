-- postgres
-- equal, like
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0, t0."folded" AS c1 FROM "public"."scalar" AS t0 WHERE t0."folded" = $1 ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."id" AS c0, t1."folded" AS c1 FROM "public"."scalar" AS t1 WHERE t1."folded" LIKE $2 ORDER BY t1."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1 FROM l1
