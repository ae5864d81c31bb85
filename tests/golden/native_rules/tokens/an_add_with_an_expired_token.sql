-- native_rules
-- addFleet: find id of Fleet where name = value
SELECT t0."id" FROM "Fleet" AS t0 WHERE t0."name" = ?1

-- addFleet: reserve numbers of objects
SELECT next_id FROM weir_store

-- addFleet: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addFleet: insert a row of Fleet (id, name)
INSERT INTO "Fleet" AS t0 ("id", "name") VALUES (?1, ?2)
