-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "Sailor" AS t0 WHERE t0."login" = ?1

-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- getBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE (1 = 0) AND t0."reg" = ?1

-- aggregateBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE (1 = 0)

-- queryFleet
SELECT t0."name" FROM "Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- checkSailorPassword
SELECT t0."login" FROM "Sailor" AS t0 WHERE (1 = 0) AND t0."id" = ?1
