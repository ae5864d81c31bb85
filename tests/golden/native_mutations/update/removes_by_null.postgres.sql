-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."id" AS c1, t0."capitalOf_id" AS c2 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", NULL, NULL, t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place") UNION ALL SELECT 2::int2, t2."id", NULL, NULL, t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l0.c2 FROM l0))

-- updateCity: update rows of City (capitalOf_id) where id in values
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = ANY($2)

-- updateCity: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- updateCity: delete rows of City_tags where id in values
DELETE FROM "public"."City_tags" AS t0 WHERE t0."id" = ANY($1)
