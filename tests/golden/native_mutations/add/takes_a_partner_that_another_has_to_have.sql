-- native_mutations
-- addCar: find id of Car where plate = value
SELECT t0."id" FROM "Car" AS t0 WHERE t0."plate" = ?1

-- addCar: find id of Driver where name = value
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1

-- addCar: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCar: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCar: insert a row of Driver (id, name, licence_id)
INSERT INTO "Driver" AS t0 ("id", "name", "licence_id") VALUES (?1, ?2, ?3)

-- addCar: insert a row of Car (id, plate, driver_id)
INSERT INTO "Car" AS t0 ("id", "plate", "driver_id") VALUES (?1, ?2, ?3)

-- addCar: find id of Car where driver_id = value
SELECT t0."id" FROM "Car" AS t0 WHERE t0."driver_id" = ?1

-- addCar: clear driver_id of Car where driver_id = value and id <> value
UPDATE "Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = ?1 AND t0."id" <> ?2)
