-- native_mutations
-- updateDriver
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateDriver: find id of Car where plate = value
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."plate" = $1

-- updateDriver: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateDriver: find id of Car where driver_id in values
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."driver_id" = ANY($1)

-- updateDriver: clear driver_id of Car where driver_id = value and id <> value
UPDATE "public"."Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = $1 AND t0."id" <> $2)

-- updateDriver: insert a row of Car (id, plate, driver_id)
INSERT INTO "public"."Car" AS t0 ("id", "plate", "driver_id") VALUES ($1, $2, $3)

-- updateDriver: update rows of Car (driver_id) where id = value
UPDATE "public"."Car" AS t0 SET "driver_id" = $1 WHERE t0."id" = $2
