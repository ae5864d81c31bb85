-- native_mutations
-- updatePerson
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"
