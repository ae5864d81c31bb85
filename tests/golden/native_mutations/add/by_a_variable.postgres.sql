-- native_mutations
-- addSeat
SELECT t0."row", t0."number", t0."price", t0."free" FROM "public"."Seat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
