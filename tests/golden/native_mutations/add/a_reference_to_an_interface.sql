-- native_mutations
-- b
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- b.person.pets.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- b.person.pets
SELECT t0."name", t0."keeper_id" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- b.person.pets.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- b.person.pets
SELECT t0."name", t0."keeper_id" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- b.person.pets
SELECT t0."type", t0."id" FROM "Animal_all" AS t0 WHERE t0."keeper_id" = ?1 ORDER BY t0."id"

-- b.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
