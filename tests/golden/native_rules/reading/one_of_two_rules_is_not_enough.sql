-- native_rules
-- queryLog
SELECT t0."line" FROM "Log" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- aggregateLog
SELECT t0."id" FROM "Log" AS t0 WHERE (1 = 0)

-- getLog
SELECT t0."line" FROM "Log" AS t0 WHERE (1 = 0) AND t0."line" = ?1
