-- native_reads
-- queryCity
SELECT t0."name", t0."population", t0."id" FROM "public"."City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."City_tags" AS t1 WHERE t1."id" = t0."id")) ORDER BY t0."id"

-- queryCity.tags
SELECT 0::int2, t0."value", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."City_tags" AS t0 ON t0."id" = p.k0 ORDER BY t0."place"

-- countries
SELECT t0."code", t0."id" FROM "public"."Country" AS t0 WHERE (t0."code" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."City" AS t1 WHERE t1."country_id" = t0."id" AND (t1."name" IS NOT NULL AND t1."population" IS NOT NULL))) ORDER BY t0."id"

-- countries.cities
SELECT 0::int2, t0."name", t0."population", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."City" AS t0 ON t0."country_id" = p.k0 AND (t0."name" IS NOT NULL AND t0."population" IS NOT NULL) ORDER BY t0."id"

-- named
SELECT t0."name", t0."area" FROM "public"."City" AS t0 WHERE t0."area" IS NOT NULL ORDER BY t0."id"

-- all
SELECT t0."name" FROM "public"."City" AS t0 ORDER BY t0."id"

-- page
SELECT t0."name", t0."country_id" FROM "public"."City" AS t0 WHERE (t0."name" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."Country" AS t1 WHERE t1."id" = t0."country_id" AND t1."code" IS NOT NULL)) ORDER BY t0."id" LIMIT $1 OFFSET $2

-- page.country
SELECT 0::int2, t0."code", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Country" AS t0 ON t0."id" = p.k0 AND t0."code" IS NOT NULL
