-- native_mutations
-- a: reserve numbers of objects
SELECT next_id FROM weir_store

-- a: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- a: insert a row of Seat (id, row, number, price, free)
INSERT INTO "Seat" AS t0 ("id", "row", "number", "price", "free") VALUES (?1, ?2, ?3, ?4, ?5)

-- b: reserve numbers of objects
SELECT next_id FROM weir_store

-- b: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- b: insert a row of Seat (id, row, number, price, free)
INSERT INTO "Seat" AS t0 ("id", "row", "number", "price", "free") VALUES (?1, ?2, ?3, ?4, ?5)
