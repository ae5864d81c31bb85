-- native_rules
-- queryLog
SELECT t0."line" FROM "Log" AS t0 WHERE (1 = 0) ORDER BY t0."id"
