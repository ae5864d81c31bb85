-- native_mutations
-- addPerson.person
SELECT t0."email", t0."visits" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
