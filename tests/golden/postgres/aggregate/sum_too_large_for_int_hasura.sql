-- postgres
-- sale_aggregate.aggregate, some.aggregate, sale_group_by
SELECT 0::int2, sum(t0."whole"), sum(t0."small"), NULL::numeric FROM "public"."sale" AS t0 UNION ALL (SELECT 1::int2, sum(t3."whole"), NULL, avg(t3."whole") FROM (SELECT t1.* FROM "public"."sale" AS t1 LIMIT $1) AS t3) UNION ALL (SELECT 2::int2, sum(t4."whole"), NULL, NULL FROM "public"."sale" AS t4 GROUP BY t4."id" HAVING count(*) > $2 ORDER BY t4."id" LIMIT $3)
