-- predicates
-- station
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_covar_samp(t1."level", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."level" > ?1) < CAST(?2 AS NUMERIC)

-- high
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(avg(t1."level"), max(t1."level")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC)
