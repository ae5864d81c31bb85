-- native_rules
-- aggregateLog, getLog
SELECT 0::int2, t0."id", NULL::text FROM "public"."Log" AS t0 WHERE (1 = 0) UNION ALL SELECT 1::int2, NULL, t1."line" FROM "public"."Log" AS t1 WHERE (1 = 0) AND t1."line" = $1

-- queryLog
SELECT t0."line" FROM "public"."Log" AS t0 WHERE (1 = 0) ORDER BY t0."id"
