-- predicates
-- station
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT covar_samp(t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."level" > $1) < $2

-- high
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT avg(t1."level") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1
