-- native_mutations
-- addCat: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- addCat: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCat: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCat: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- addCat: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES (?1, ?2, ?3, ?4)

-- addCat.cat
SELECT t0."name", t0."lives" FROM "Cat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
