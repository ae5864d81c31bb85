-- native_mutations
-- deleteCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- deleteCity
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."id" AS c1, t0."country_id" AS c2, t0."capitalOf_id" AS c3 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2, l0.c3 FROM l0 UNION ALL (SELECT 1::int2, t1."value", t1."id", NULL, NULL FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place") UNION ALL SELECT 2::int2, t2."code", t2."id", NULL, NULL FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT DISTINCT l0.c2 FROM l0)) UNION ALL SELECT 3::int2, t3."code", t3."id", NULL, NULL FROM "public"."Country" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT l0.c3 FROM l0))

-- deleteCity: delete rows of City_lovers where city_id in values
DELETE FROM "public"."City_lovers" AS t0 WHERE t0."city_id" = ANY($1)

-- deleteCity: delete rows of Person_likes where thing_id in values
DELETE FROM "public"."Person_likes" AS t0 WHERE t0."thing_id" = ANY($1)

-- deleteCity: delete rows of City_tags where id in values
DELETE FROM "public"."City_tags" AS t0 WHERE t0."id" = ANY($1)

-- deleteCity: delete rows of City where id in values
DELETE FROM "public"."City" AS t0 WHERE t0."id" = ANY($1)

-- deleteCity: delete rows of Thing where id in values
DELETE FROM "public"."Thing" AS t0 WHERE t0."id" = ANY($1)
