-- chinook
-- Invoice_aggregate.aggregate
SELECT stddev(t0."CustomerId"), var_pop(t0."CustomerId"), variance(t0."CustomerId"), stddev_pop(t0."CustomerId") FROM "public"."Invoice" AS t0 WHERE t0."CustomerId" = $1
