-- native_mutations
-- addCar.car.driver.car
SELECT t0."plate" FROM "Car" AS t0 WHERE t0."driver_id" = ?1

-- addCar.car.driver
SELECT t0."name", t0."id" FROM "Driver" AS t0 WHERE t0."id" = ?1

-- addCar.car
SELECT t0."plate", t0."driver_id" FROM "Car" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
