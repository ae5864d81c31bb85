-- native_mutations
-- a
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- b: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- b: reserve numbers of objects
SELECT next_id FROM weir_store

-- b: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- b: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- b.country
SELECT t0."name" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- a: clear country_id of City where country_id in values
UPDATE "City" AS t0 SET "country_id" = NULL WHERE t0."country_id" IN (SELECT value FROM json_each(?1))

-- a: clear capitalOf_id of City where capitalOf_id in values
UPDATE "City" AS t0 SET "capitalOf_id" = NULL WHERE t0."capitalOf_id" IN (SELECT value FROM json_each(?1))

-- a: delete rows of Country where id in values
DELETE FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
