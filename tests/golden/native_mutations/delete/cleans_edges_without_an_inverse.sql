-- native_mutations
-- a
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- b
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"
