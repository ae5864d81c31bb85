-- native_rules
-- deleteLog
SELECT t0."id" FROM "Log" AS t0 WHERE (t0."sealed" = ?1) IS NOT TRUE ORDER BY t0."id"

-- deleteLog: delete rows of Log_keptFrom where log_id in values
DELETE FROM "Log_keptFrom" AS t0 WHERE t0."log_id" IN (SELECT value FROM json_each(?1))

-- deleteLog: delete rows of Log where id in values
DELETE FROM "Log" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteLog.log
SELECT t0."line" FROM "Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "Sailor" AS t1 JOIN "Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" IN (SELECT value FROM json_each(?2)) ORDER BY t0."line", t0."id"
