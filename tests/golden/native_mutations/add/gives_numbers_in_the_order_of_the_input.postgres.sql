-- native_mutations
-- addSeat
SELECT t0."number" FROM "public"."Seat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
