-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- updateCity: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = ?1 AND t0."id" <> ?2)

-- updateCity: update rows of City (country_id) where id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."id" = ?2

-- updateCity: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- updateCity.city
SELECT t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCity.city.country
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" = ?1

-- updateCity.city.country.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- updateCity.city.country.cities
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"
