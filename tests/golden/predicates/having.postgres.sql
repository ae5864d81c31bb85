-- predicates
-- reading_group_by
SELECT t0."station_id" FROM "public"."reading" AS t0 GROUP BY t0."station_id" HAVING (max(t0."level") > $1 AND max(t0."level") < $2 AND sum(t0."flow") > $3) ORDER BY t0."station_id"
