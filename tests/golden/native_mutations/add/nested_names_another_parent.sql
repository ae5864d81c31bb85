-- native_mutations
-- addCountry: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- addCountry: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addCountry: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCountry: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCountry: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- addCountry: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- addCountry: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)

-- addCountry: update rows of City (country_id) where id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."id" = ?2
