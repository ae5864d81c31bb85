-- predicates
-- together
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_corr(t1."level", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC)

-- against
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_corr(t1."level", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") < CAST(?1 AS NUMERIC)

-- itself
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_corr(t1."flow", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC)

-- covariance
SELECT t0."name" FROM "station" AS t0 WHERE ((SELECT weir_covar_samp(t1."level", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC) AND (SELECT weir_covar_samp(t2."level", t2."flow") FROM "reading" AS t2 WHERE t2."station_id" = t0."id") < CAST(?2 AS NUMERIC))

-- distinct
SELECT t0."name" FROM "station" AS t0 WHERE ((SELECT weir_covar_samp(DISTINCT quote(t1."level") || ',' || quote(t1."flow")) FROM "reading" AS t1 WHERE t1."station_id" = t0."id") > CAST(?1 AS NUMERIC) AND (SELECT weir_covar_samp(DISTINCT quote(t2."level") || ',' || quote(t2."flow")) FROM "reading" AS t2 WHERE t2."station_id" = t0."id") < CAST(?2 AS NUMERIC))

-- too_few
SELECT t0."name" FROM "station" AS t0 WHERE (SELECT weir_covar_samp(t1."level", t1."flow") FROM "reading" AS t1 WHERE t1."station_id" = t0."id") IS NULL
