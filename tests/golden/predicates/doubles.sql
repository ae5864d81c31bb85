-- predicates
-- avg
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(avg(t1."level"), max(t1."level")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC)

-- avg_distinct
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(avg(DISTINCT t1."level"), max(t1."level")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") < CAST(?1 AS NUMERIC)

-- max
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT max(t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") >= CAST(?1 AS NUMERIC)

-- min
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT min(t1."level") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") <= CAST(?1 AS NUMERIC)

-- sum
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(sum(t1."flow"), max(t1."flow")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") IN (SELECT value FROM json_each(?1))

-- sum_distinct
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(sum(DISTINCT t1."flow"), max(t1."flow")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") = CAST(?1 AS NUMERIC)

-- sum_filtered
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_of_numbers(sum(t1."level"), max(t1."level")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."wet" IN (SELECT truth.value FROM json_each(weir_truth_words(?1)) AS truth)) >= CAST(?2 AS NUMERIC)

-- stddev_samp
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_stddev_samp(t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC)

-- var_samp
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_var_samp(t1."level") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") IS NULL
