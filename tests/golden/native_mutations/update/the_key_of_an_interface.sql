-- native_mutations
-- b
SELECT t0."id" FROM "Animal_all" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- b: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- b: update rows of Animal (name) where id in values
UPDATE "Animal" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- b: update rows of Dog (name) where id in values
UPDATE "Dog" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- b: update rows of Cat (name) where id in values
UPDATE "Cat" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- b.animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- b.animal
SELECT t0."name" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- b.animal
SELECT t0."name" FROM "Cat" AS t0 WHERE t0."id" = ?1

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

-- c: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- c: reserve numbers of objects
SELECT next_id FROM weir_store

-- c: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- c: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- c: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES (?1, ?2, ?3, ?4)

-- d: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- d: reserve numbers of objects
SELECT next_id FROM weir_store

-- d: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- d: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- d: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES (?1, ?2, ?3, ?4)
