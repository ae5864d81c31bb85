-- native_auth
-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 ORDER BY t0."reg", t0."id"
