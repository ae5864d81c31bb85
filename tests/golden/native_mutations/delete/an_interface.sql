-- native_mutations
-- b
SELECT t0."id" FROM "Animal_all" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- b.animal
SELECT t0."name" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- b.animal
SELECT t0."name" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- b.animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- c
SELECT t0."id" FROM "Animal_all" AS t0 ORDER BY t0."id"
