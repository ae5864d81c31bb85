-- native_mutations
-- addCity
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."population" AS c1, t0."id" AS c2 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL (SELECT 1::int2, t1."value", t1."id", NULL FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t1."place") UNION ALL (SELECT 2::int2, t2."email", t3."city_id", NULL FROM "public"."City_lovers" AS t3 JOIN "public"."Person" AS t2 ON t2."id" = t3."person_id" WHERE t3."city_id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t3."person_id")

-- addCity: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- addCity: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- addCity: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- addCity: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCity: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- addCity: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "public"."City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- addCity: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- addCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- addCity: insert a row of City_lovers (city_id, person_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("city_id", "person_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- addCity: update rows of City (name, population) where id = value
UPDATE "public"."City" AS t0 SET "name" = $1, "population" = $2 WHERE t0."id" = $3

-- addCity: update rows of City (name) where id = value
UPDATE "public"."City" AS t0 SET "name" = $1 WHERE t0."id" = $2

-- addCity: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2
