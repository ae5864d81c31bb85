-- native_mutations
-- licence
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- licence: find id of Licence where number = value
SELECT t0."id" FROM "Licence" AS t0 WHERE t0."number" = ?1

-- licence: reserve numbers of objects
SELECT next_id FROM weir_store

-- licence: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- licence: find licence_id of Driver where id in values
SELECT t0."licence_id" FROM "Driver" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- licence: insert a row of Licence (id, number)
INSERT INTO "Licence" AS t0 ("id", "number") VALUES (?1, ?2)

-- licence: update rows of Driver (licence_id) where id = value
UPDATE "Driver" AS t0 SET "licence_id" = ?1 WHERE t0."id" = ?2

-- licence: update rows of Driver (licence_id) where id in values and licence_id = value
UPDATE "Driver" AS t0 SET "licence_id" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."licence_id" = ?3)

-- licence: clear licence_id of Driver where licence_id = value and id <> value
UPDATE "Driver" AS t0 SET "licence_id" = NULL WHERE (t0."licence_id" = ?1 AND t0."id" <> ?2)

-- licence.driver
SELECT t0."licence_id" FROM "Driver" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- licence.driver.licence
SELECT t0."number", t0."id" FROM "Licence" AS t0 WHERE t0."id" = ?1

-- licence.driver.licence.driver
SELECT t0."name" FROM "Driver" AS t0 WHERE t0."licence_id" = ?1

-- car
SELECT t0."id" FROM "Car" AS t0 WHERE t0."plate" = ?1 ORDER BY t0."id"

-- car: find id of Driver where name = value
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1

-- car: reserve numbers of objects
SELECT next_id FROM weir_store

-- car: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- car: insert a row of Driver (id, name, licence_id)
INSERT INTO "Driver" AS t0 ("id", "name", "licence_id") VALUES (?1, ?2, ?3)

-- car: update rows of Car (driver_id) where id = value
UPDATE "Car" AS t0 SET "driver_id" = ?1 WHERE t0."id" = ?2

-- car: find id of Car where driver_id = value
SELECT t0."id" FROM "Car" AS t0 WHERE t0."driver_id" = ?1

-- car: clear driver_id of Car where driver_id = value and id <> value
UPDATE "Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = ?1 AND t0."id" <> ?2)

-- car.car
SELECT t0."driver_id" FROM "Car" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- car.car.driver
SELECT t0."name", t0."id" FROM "Driver" AS t0 WHERE t0."id" = ?1

-- car.car.driver.car
SELECT t0."plate" FROM "Car" AS t0 WHERE t0."driver_id" = ?1
