-- native_mutations
-- updateDriver
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateDriver.driver.car.driver
SELECT t0."name" FROM "Driver" AS t0 WHERE t0."id" = ?1

-- updateDriver.driver.car
SELECT t0."plate", t0."driver_id" FROM "Car" AS t0 WHERE t0."driver_id" = ?1

-- updateDriver.driver.licence.driver
SELECT t0."name" FROM "Driver" AS t0 WHERE t0."licence_id" = ?1

-- updateDriver.driver.licence
SELECT t0."number", t0."id" FROM "Licence" AS t0 WHERE t0."id" = ?1

-- updateDriver.driver
SELECT t0."name", t0."id", t0."licence_id" FROM "Driver" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
