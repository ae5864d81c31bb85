-- native_mutations
-- addSeat
SELECT t0."row", t0."number", t0."price", t0."free" FROM "public"."Seat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- addSeat: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addSeat: insert a row of Seat (id, row, number, price, free)
INSERT INTO "public"."Seat" AS t0 ("id", "row", "number", "price", "free") VALUES ($1, $2, $3, $4, $5)
