-- chinook
-- Invoice_aggregate.aggregate
SELECT weir_stddev_samp(t0."CustomerId"), weir_var_pop(t0."CustomerId"), weir_var_samp(t0."CustomerId"), weir_stddev_pop(t0."CustomerId") FROM "Invoice" AS t0 WHERE t0."CustomerId" = ?1
