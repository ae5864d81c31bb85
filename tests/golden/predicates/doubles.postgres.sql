-- predicates
-- avg
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT avg(t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1

-- avg_distinct
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT avg(DISTINCT t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") < $1

-- max
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT max(t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") >= $1

-- min
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT min(t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") <= $1

-- sum
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT sum(t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") = ANY($1)

-- sum_distinct
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT sum(DISTINCT t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") = $1

-- sum_filtered
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT sum(t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."wet" = $1) >= $2

-- stddev_samp
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT stddev_samp(t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1

-- var_samp
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT var_samp(t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") IS NULL
