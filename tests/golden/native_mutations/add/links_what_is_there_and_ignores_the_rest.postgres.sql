-- native_mutations
-- addCountry
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL (SELECT 1::int2, t1."population", t1."name", t1."country_id" FROM "public"."City" AS t1 WHERE t1."country_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."id")

-- addCountry: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- addCountry: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- addCountry: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCountry: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)

-- addCountry: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- addCountry: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "public"."City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- addCountry: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2
