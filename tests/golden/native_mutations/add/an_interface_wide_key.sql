-- native_mutations
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
