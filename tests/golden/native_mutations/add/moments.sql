-- native_mutations
-- addCity.city
SELECT t0."name", t0."founded" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."name", t0."id"
