-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- updateCountry
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l2 AS MATERIALIZED (SELECT t2."name" AS c0, t2."country_id" AS c1 FROM "public"."City" AS t2 WHERE t2."country_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."capitalOf_id", t1."name" FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) UNION ALL SELECT 2::int2, l2.c1, l2.c0 FROM l2 UNION ALL SELECT 3::int2, t3."id", t3."code" FROM "public"."Country" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT DISTINCT l2.c1 FROM l2))
