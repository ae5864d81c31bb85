-- native_auth
-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE t0."open" = $1 AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."reg", t0."tons" FROM "public"."Boat" AS t0 WHERE t0."open" = $1 AND t0."id" = ANY($2) ORDER BY t0."id"

-- updateBoat: update rows of Boat (tons) where id in values
UPDATE "public"."Boat" AS t0 SET "tons" = $1 WHERE t0."id" = ANY($2)
