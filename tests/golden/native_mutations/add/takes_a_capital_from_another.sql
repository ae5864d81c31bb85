-- native_mutations
-- addCountry.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1

-- addCountry.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- addCountry.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
