-- native_mutations
-- a: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- a: reserve numbers of objects
SELECT next_id FROM weir_store

-- a: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- a: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- b: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- b: reserve numbers of objects
SELECT next_id FROM weir_store

-- b: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- b: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- c: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- c: reserve numbers of objects
SELECT next_id FROM weir_store

-- c: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- c: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)
