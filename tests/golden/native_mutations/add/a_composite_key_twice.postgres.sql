-- native_mutations
-- a: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- a: insert a row of Seat (id, row, number, price, free)
INSERT INTO "public"."Seat" AS t0 ("id", "row", "number", "price", "free") VALUES ($1, $2, $3, $4, $5)

-- b: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- b: insert a row of Seat (id, row, number, price, free)
INSERT INTO "public"."Seat" AS t0 ("id", "row", "number", "price", "free") VALUES ($1, $2, $3, $4, $5)
