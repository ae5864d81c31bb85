-- native_reads
-- queryCity, queryCity.country
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."country_id" AS c1 FROM "public"."City" AS t0 ORDER BY (SELECT t1."code" FROM "public"."Country" AS t1 WHERE t1."id" = t0."country_id" LIMIT 1) DESC NULLS LAST, t0."name", t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t2."code", t2."id" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
