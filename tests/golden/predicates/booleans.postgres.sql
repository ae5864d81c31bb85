-- predicates
-- all
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT bool_and(t1."wet") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") = $1

-- some
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT bool_or(t1."wet") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") = $1

-- none
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT bool_or(t1."wet") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") = $1

-- high
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT bool_or(t1."wet") FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id" AND t1."level" > $1) IS NULL
