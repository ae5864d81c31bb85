-- native_mutations
-- updateDriver
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateDriver: find id of Car where plate = value
SELECT t0."id" FROM "Car" AS t0 WHERE t0."plate" = ?1

-- updateDriver: reserve numbers of objects
SELECT next_id FROM weir_store

-- updateDriver: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- updateDriver: find id of Car where driver_id in values
SELECT t0."id" FROM "Car" AS t0 WHERE t0."driver_id" IN (SELECT value FROM json_each(?1))

-- updateDriver: clear driver_id of Car where driver_id = value and id <> value
UPDATE "Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = ?1 AND t0."id" <> ?2)

-- updateDriver: insert a row of Car (id, plate, driver_id)
INSERT INTO "Car" AS t0 ("id", "plate", "driver_id") VALUES (?1, ?2, ?3)

-- updateDriver: update rows of Car (driver_id) where driver_id in values and id = value
UPDATE "Car" AS t0 SET "driver_id" = ?1 WHERE (t0."driver_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)

-- updateDriver: update rows of Car (driver_id) where id = value
UPDATE "Car" AS t0 SET "driver_id" = ?1 WHERE t0."id" = ?2
