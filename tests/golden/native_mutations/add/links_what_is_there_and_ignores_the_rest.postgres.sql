-- native_mutations
-- addCountry
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL (SELECT 1::int2, t1."population", t1."name", t1."country_id" FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."id")
