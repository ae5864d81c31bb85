-- predicates
-- together
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT corr(t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1

-- against
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT corr(t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") < $1

-- itself
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT corr(t1."flow", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1

-- covariance
SELECT t0."name" FROM "public"."station" AS t0 WHERE ((SELECT covar_samp(t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1 AND (SELECT covar_samp(t2."level", t2."flow") FROM "public"."reading" AS t2 WHERE t2."station_id" = t0."id") < $2)

-- distinct
SELECT t0."name" FROM "public"."station" AS t0 WHERE ((SELECT covar_samp(DISTINCT t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1 AND (SELECT covar_samp(DISTINCT t2."level", t2."flow") FROM "public"."reading" AS t2 WHERE t2."station_id" = t0."id") < $2)

-- too_few
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT covar_samp(t1."level", t1."flow") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") IS NULL
