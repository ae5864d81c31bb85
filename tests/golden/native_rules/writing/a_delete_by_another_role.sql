-- native_rules
-- deleteLog
SELECT t0."id" FROM "Log" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- deleteLog: delete rows of Log_keptFrom where log_id in values
DELETE FROM "Log_keptFrom" AS t0 WHERE t0."log_id" IN (SELECT value FROM json_each(?1))

-- deleteLog: delete rows of Log where id in values
DELETE FROM "Log" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
