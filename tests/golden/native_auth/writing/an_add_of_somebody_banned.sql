-- native_auth
-- addLog
SELECT t0."id" FROM "Boat" AS t0 WHERE t0."open" = ?1 AND t0."id" IN (SELECT value FROM json_each(?2))

-- addLog: find id of Log where line = value
SELECT t0."id" FROM "Log" AS t0 WHERE t0."line" = ?1

-- addLog: reserve numbers of objects
SELECT next_id FROM weir_store

-- addLog: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addLog: insert a row of Log (id, line, boat_id)
INSERT INTO "Log" AS t0 ("id", "line", "boat_id") VALUES (?1, ?2, ?3)

-- b: find id of Crew where login = value
SELECT t0."id" FROM "Crew" AS t0 WHERE t0."login" = ?1

-- b: reserve numbers of objects
SELECT next_id FROM weir_store

-- b: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- b: insert a row of Crew (id, login)
INSERT INTO "Crew" AS t0 ("id", "login") VALUES (?1, ?2)
