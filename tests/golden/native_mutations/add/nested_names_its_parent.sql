-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry.country.cities.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- updateCountry.country.cities
SELECT t0."name", t0."country_id" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- updateCountry.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
