-- native_mutations
-- deleteDriver
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"
