-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."population" AS c1, t0."country_id" AS c2 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."code", t1."id", NULL FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c2 FROM l0))
