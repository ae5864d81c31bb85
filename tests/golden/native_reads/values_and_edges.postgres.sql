-- native_reads
-- queryCity
SELECT t0."name", t0."country_id", t0."population", t0."area", t0."founded", t0."id", t0."done", t0."mood", t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 ORDER BY t0."id"

-- queryCity.country, queryCity.country.cities, queryCity.tags
WITH l0 AS MATERIALIZED (SELECT t0."code" AS c0, t0."id" AS c1, p.n AS k0 FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."Country" AS t0 ON t0."id" = p.k0), l2 AS MATERIALIZED (SELECT t2."value" AS c0, p.n AS k0 FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."City_tags" AS t2 ON t2."id" = p.k1 ORDER BY t2."place") SELECT 0::int2, l0.c0, l0.c1, l0.k0 FROM l0 UNION ALL (SELECT 1::int2, t1."name", t1."country_id", NULL FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) ORDER BY t1."id") UNION ALL SELECT 2::int2, l2.c0, l2.k0, NULL FROM l2
