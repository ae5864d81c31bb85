-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- updateCountry
SELECT t0."name" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- updateCountry: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- updateCountry: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateCountry: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- updateCountry: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "public"."City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- updateCountry: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2
