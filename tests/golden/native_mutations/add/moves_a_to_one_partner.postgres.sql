-- native_mutations
-- addCountry
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."country_id" AS c1 FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT DISTINCT l1.c1 FROM l1))
