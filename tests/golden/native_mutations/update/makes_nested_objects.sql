-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- updateCountry: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- updateCountry: reserve numbers of objects
SELECT next_id FROM weir_store

-- updateCountry: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- updateCountry: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- updateCountry: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- updateCountry: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)

-- updateCountry: update rows of City (country_id) where id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."id" = ?2

-- updateCountry: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- updateCountry.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCountry.country.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- updateCountry.country.cities
SELECT t0."name", t0."country_id" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- updateCountry.country.cities.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1
