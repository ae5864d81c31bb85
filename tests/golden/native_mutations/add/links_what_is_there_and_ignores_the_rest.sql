-- native_mutations
-- addCountry.country.cities
SELECT t0."name", t0."population" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- addCountry.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
