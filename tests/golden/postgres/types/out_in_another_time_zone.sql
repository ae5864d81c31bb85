-- postgres
-- scalar_by_pk
SELECT t0."instant", t0."moment", t0."clock_there", t0."booked" FROM "public"."scalar" AS t0 WHERE t0."id" = $1
