-- native_mutations
-- addSeat.seat
SELECT t0."number" FROM "Seat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
