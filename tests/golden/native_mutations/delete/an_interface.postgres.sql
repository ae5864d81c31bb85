-- native_mutations
-- b
SELECT t0."id" FROM "public"."Animal_all" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- b
WITH l0 AS MATERIALIZED (SELECT t0."type" AS c0, t0."id" AS c1 FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."name", t1."id" FROM "public"."Dog" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, t2."name", t2."id" FROM "public"."Cat" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))

-- c
SELECT t0."id" FROM "public"."Animal_all" AS t0 ORDER BY t0."id"
