-- native_mutations
-- addSeat.seat
SELECT t0."row", t0."number", t0."price", t0."free" FROM "Seat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
