-- native_mutations
-- addCar: find id of Car where plate = value
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."plate" = $1

-- addCar: find id of Driver where name = value
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1

-- addCar: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCar: insert a row of Driver (id, name, licence_id)
INSERT INTO "public"."Driver" AS t0 ("id", "name", "licence_id") VALUES ($1, $2, $3)

-- addCar: insert a row of Car (id, plate, driver_id)
INSERT INTO "public"."Car" AS t0 ("id", "plate", "driver_id") VALUES ($1, $2, $3)

-- addCar: find id of Car where driver_id in values
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."driver_id" = ANY($1)

-- addCar: clear driver_id of Car where driver_id = value and id <> value
UPDATE "public"."Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = $1 AND t0."id" <> $2)
