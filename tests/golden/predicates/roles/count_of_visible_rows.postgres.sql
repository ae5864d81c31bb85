-- predicates
-- station
SELECT t0."name" FROM "public"."station" AS t0 WHERE (SELECT count(*) FROM "public"."reading" AS t1 WHERE t1."station_id" = t0."id") > $1 ORDER BY t0."id"
