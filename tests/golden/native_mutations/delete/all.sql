-- native_mutations
-- deleteCity
SELECT t0."id" FROM "City" AS t0 ORDER BY t0."id"
