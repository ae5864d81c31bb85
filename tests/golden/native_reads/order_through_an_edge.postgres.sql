-- native_reads
-- queryCity
SELECT t0."name", t0."country_id" FROM "public"."City" AS t0 ORDER BY (SELECT t1."code" FROM "public"."Country" AS t1 WHERE t1."id" = t0."country_id" LIMIT 1) DESC NULLS LAST, t0."name", t0."id"

-- queryCity.country
SELECT 0::int2, t0."code", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Country" AS t0 ON t0."id" = p.k0
