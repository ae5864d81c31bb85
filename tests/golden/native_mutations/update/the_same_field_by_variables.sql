-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- updateCity: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updateCity: update rows of City (country_id) where id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."id" = ?2

-- updateCity: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- updateCity.city
SELECT t0."name", t0."population", t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCity.city.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1
