-- native_mutations
-- addCountry: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- addCountry: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCountry: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCountry: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)
