-- native_mutations
-- c
SELECT t0."id" FROM "Animal_all" AS t0 ORDER BY t0."id"

-- c: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- c: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- c: reserve numbers of objects
SELECT next_id FROM weir_store

-- c: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- c: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- c: update rows of Dog (keeper_id) where id = value
UPDATE "Dog" AS t0 SET "keeper_id" = ?1 WHERE t0."id" = ?2

-- c: update rows of Cat (keeper_id) where id = value
UPDATE "Cat" AS t0 SET "keeper_id" = ?1 WHERE t0."id" = ?2

-- c.animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- c.animal
SELECT t0."name", t0."keeper_id" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- c.animal.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c.animal
SELECT t0."name", t0."keeper_id" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- c.animal.keeper
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" = ?1

-- a: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- a: reserve numbers of objects
SELECT next_id FROM weir_store

-- a: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- a: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- a: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- a: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES (?1, ?2, ?3, ?4)

-- b: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- b: reserve numbers of objects
SELECT next_id FROM weir_store

-- b: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- b: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- b: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES (?1, ?2, ?3, ?4)
