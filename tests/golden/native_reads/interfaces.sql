-- native_reads
-- queryAnimal
SELECT t0."type", t0."id" FROM "Animal" AS t0 ORDER BY t0."id"

-- queryAnimal
SELECT t0."name", t0."legs", t0."lives", t0."keeper_id" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- queryAnimal
SELECT t0."name", t0."legs", t0."keeper_id" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- queryAnimal.keeper
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- queryAnimal.keeper
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- sorted
SELECT t0."type", t0."id" FROM "Animal_all" AS t0 WHERE t0."legs" = ?1 ORDER BY t0."name" DESC, t0."id"

-- sorted
SELECT t0."name" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- sorted
SELECT t0."name" FROM "Dog" AS t0 WHERE t0."id" = ?1
