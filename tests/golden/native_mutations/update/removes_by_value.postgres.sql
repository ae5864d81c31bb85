-- native_mutations
-- a
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- a
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."id" AS c1 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", NULL, t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place")

-- b
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- b
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."id" AS c1 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", NULL, t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place")

-- a: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)

-- a: delete rows of City_tags where id in values and value = value
DELETE FROM "public"."City_tags" AS t0 WHERE (t0."id" = ANY($1) AND t0."value" = $2)

-- b: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)
