-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."population" AS c1, t0."country_id" AS c2 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."code", t1."id", NULL FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c2 FROM l0))

-- updateCity: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- updateCity: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- updateCity: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2

-- updateCity: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)
