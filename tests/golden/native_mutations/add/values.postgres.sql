-- native_mutations
-- addCity
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."founded" AS c1, t0."id" AS c2, t0."at_longitude" AS c3, t0."at_latitude" AS c4 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2, l0.c3, l0.c4 FROM l0 UNION ALL (SELECT 1::int2, t1."id", t1."value", NULL, NULL, NULL FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t1."place")

-- addCity: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- addCity: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- addCity: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCity: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- addCity: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "public"."City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- addCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING
