-- native_auth
-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 ORDER BY t0."reg", t0."id"

-- queryLog
SELECT t0."line", t0."boat_id" FROM "Log" AS t0 ORDER BY t0."line", t0."id"

-- queryLog.boat
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."id" = ?1
