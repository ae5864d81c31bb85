-- native_mutations
-- addCountry.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
