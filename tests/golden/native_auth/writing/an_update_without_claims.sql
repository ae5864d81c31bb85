-- native_auth
-- updateBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- updateBoat: update rows of Boat (tons) where id in values
UPDATE "Boat" AS t0 SET "tons" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updateBoat.boat
SELECT t0."reg", t0."tons" FROM "Boat" AS t0 WHERE t0."open" = ?1 AND t0."id" IN (SELECT value FROM json_each(?2)) ORDER BY t0."id"

-- updateBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE t0."open" = ?1 AND t0."id" IN (SELECT value FROM json_each(?2))
