-- native_mutations
-- addSeat: reserve numbers of objects
SELECT next_id FROM weir_store

-- addSeat: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addSeat: insert a row of Seat (id, row, number, price, free)
INSERT INTO "Seat" AS t0 ("id", "row", "number", "price", "free") VALUES (?1, ?2, ?3, ?4, ?5)

-- addSeat.seat
SELECT t0."number" FROM "Seat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
