-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."country_id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."code" AS c0, t1."id" AS c1 FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."capitalOf_id", t2."name" FROM "public"."City" AS t2 WHERE t2."capitalOf_id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) UNION ALL (SELECT 3::int2, t3."country_id", t3."name" FROM "public"."City" AS t3 WHERE t3."country_id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) ORDER BY t3."id")

-- updateCity: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- updateCity: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = $1 AND t0."id" <> $2)

-- updateCity: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2

-- updateCity: update rows of City (capitalOf_id) where id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = $2
