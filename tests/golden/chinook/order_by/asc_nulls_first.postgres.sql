-- chinook
-- Customer
SELECT t0."CustomerId", t0."State" FROM "public"."Customer" AS t0 ORDER BY t0."State" NULLS FIRST, t0."CustomerId" LIMIT $1
