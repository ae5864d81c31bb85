-- native_rules
-- addLog: find id of Log where line = value
SELECT t0."id" FROM "Log" AS t0 WHERE t0."line" = ?1

-- addLog: reserve numbers of objects
SELECT next_id FROM weir_store

-- addLog: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addLog: insert a row of Log (id, line, sealed, by_id, boat_id)
INSERT INTO "Log" AS t0 ("id", "line", "sealed", "by_id", "boat_id") VALUES (?1, ?2, ?3, ?4, ?5)

-- addLog.log
SELECT t0."line" FROM "Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "Sailor" AS t1 JOIN "Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" IN (SELECT value FROM json_each(?2)) ORDER BY t0."id"

-- addLog
SELECT t0."id" FROM "Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "Sailor" AS t1 JOIN "Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" IN (SELECT value FROM json_each(?2))

-- addLog
SELECT t0."id" FROM "Log" AS t0 WHERE EXISTS (SELECT 1 FROM "Sailor" AS t1 WHERE t1."id" = t0."by_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addLog
SELECT t0."id" FROM "Sailor" AS t0 WHERE (t0."login" = ?1 AND t0."login" IS NOT NULL) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addLog
SELECT t0."id" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL))) AND t0."id" IN (SELECT value FROM json_each(?2))
