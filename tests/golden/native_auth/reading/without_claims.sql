-- native_auth
-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."open" = ?1 ORDER BY t0."id"

-- getBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."open" = ?1 AND t0."reg" = ?2
