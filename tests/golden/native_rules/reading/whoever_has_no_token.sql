-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- queryFleet
SELECT t0."name", t0."id" FROM "Fleet" AS t0 ORDER BY t0."name", t0."id"

-- queryFleet.boats
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."fleet_id" = ?1 AND (1 = 0) ORDER BY t0."id"

-- queryLog
SELECT t0."line" FROM "Log" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- aggregateLog
SELECT t0."id" FROM "Log" AS t0 WHERE (1 = 0)

-- queryDocument
SELECT t0."type", t0."id" FROM "Document" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- queryDocument
SELECT t0."title" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND (1 = 0)

-- queryDocument
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND (1 = 0)

-- checkSailorPassword
SELECT t0."login" FROM "Sailor" AS t0 WHERE (1 = 0) AND t0."id" = ?1
