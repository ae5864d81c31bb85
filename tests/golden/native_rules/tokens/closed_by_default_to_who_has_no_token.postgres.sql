-- native_rules
-- aggregateFleet, getFleet
SELECT 0::int2, t0."id", NULL::text FROM "public"."Fleet" AS t0 WHERE (1 = 0) UNION ALL SELECT 1::int2, NULL, t1."name" FROM "public"."Fleet" AS t1 WHERE (1 = 0) AND t1."name" = $1

-- queryFleet
SELECT t0."name" FROM "public"."Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"
