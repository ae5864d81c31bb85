-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity.city.country.capital
SELECT t0."name" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- updateCity.city.country.cities
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- updateCity.city.country
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" = ?1

-- updateCity.city
SELECT t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
