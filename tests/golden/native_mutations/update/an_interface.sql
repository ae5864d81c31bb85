-- native_mutations
-- c
SELECT t0."id" FROM "Animal_all" AS t0 ORDER BY t0."id"

-- c.animal.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c.animal
SELECT t0."name", t0."keeper_id" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- c.animal.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c.animal
SELECT t0."name", t0."keeper_id" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- c.animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
