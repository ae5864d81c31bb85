-- kits_native
-- queryCountry, queryCountry.cities
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."cid" AS c1 FROM "public"."Country" AS t0 WHERE t0."id" = $1 ORDER BY t0."cid") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", t1."country_id", t1."name" FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."name", t1."cid")
