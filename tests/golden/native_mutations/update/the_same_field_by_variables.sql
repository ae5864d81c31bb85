-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity.city.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- updateCity.city
SELECT t0."name", t0."population", t0."country_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
