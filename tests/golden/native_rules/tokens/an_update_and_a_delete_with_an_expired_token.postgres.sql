-- native_rules
-- updateFleet
SELECT t0."id" FROM "public"."Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- deleteFleet
SELECT t0."id" FROM "public"."Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- updateFleet: find id of Boat where reg = value
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE t0."reg" = $1

-- updateFleet: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateFleet: insert a row of Boat (id, reg, tons, fleet_id)
INSERT INTO "public"."Boat" AS t0 ("id", "reg", "tons", "fleet_id") VALUES ($1, $2, $3, $4)

-- updateFleet: update rows of Boat (fleet_id) where id = value
UPDATE "public"."Boat" AS t0 SET "fleet_id" = $1 WHERE t0."id" = $2

-- deleteFleet: clear fleet_id of Boat where fleet_id in values
UPDATE "public"."Boat" AS t0 SET "fleet_id" = NULL WHERE t0."fleet_id" = ANY($1)

-- deleteFleet: delete rows of Fleet_members where fleet_id in values
DELETE FROM "public"."Fleet_members" AS t0 WHERE t0."fleet_id" = ANY($1)

-- deleteFleet: delete rows of Fleet where id in values
DELETE FROM "public"."Fleet" AS t0 WHERE t0."id" = ANY($1)
