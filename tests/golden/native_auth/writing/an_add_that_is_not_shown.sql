-- native_auth
-- addLog: find id of Log where line = value
SELECT t0."id" FROM "Log" AS t0 WHERE t0."line" = ?1

-- addLog: reserve numbers of objects
SELECT next_id FROM weir_store

-- addLog: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addLog: insert a row of Log (id, line, boat_id)
INSERT INTO "Log" AS t0 ("id", "line", "boat_id") VALUES (?1, ?2, ?3)

-- addLog.log
SELECT t0."line" FROM "Log" AS t0 WHERE (1 = 0) AND t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- addLog
SELECT t0."id" FROM "Boat" AS t0 WHERE t0."open" = ?1 AND t0."id" IN (SELECT value FROM json_each(?2))
