-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- updateCountry
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."country_id", t1."name" FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."id")

-- updateCountry: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- updateCountry: find id of City where country_id in values and id = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE (t0."country_id" = ANY($1) AND t0."id" = $2)

-- updateCountry: update rows of City (country_id) where country_id in values and id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE (t0."country_id" = ANY($2) AND t0."id" = $3)
