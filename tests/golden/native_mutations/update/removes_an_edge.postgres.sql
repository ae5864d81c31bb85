-- native_mutations
-- updatePerson
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- updatePerson
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")

-- again
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- again
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")

-- updatePerson: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- updatePerson: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- updatePerson: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("person_id", "city_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- again: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- again: delete rows of City_lovers where person_id in values and city_id = value
DELETE FROM "public"."City_lovers" AS t0 WHERE (t0."person_id" = ANY($1) AND t0."city_id" = $2)
