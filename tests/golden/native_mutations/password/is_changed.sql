-- native_mutations
-- updatePerson
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- updatePerson: update rows of Person (visits, password) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1, "password" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))
