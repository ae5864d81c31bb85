-- native_mutations
-- addCountry.country.cities.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- addCountry.country.cities.lovers.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- addCountry.country.cities.lovers
SELECT t0."email", t0."id" FROM "City_lovers" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."person_id" WHERE t1."city_id" = ?1 ORDER BY t1."person_id"

-- addCountry.country.cities
SELECT t0."name", t0."country_id", t0."id" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- addCountry.country
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
