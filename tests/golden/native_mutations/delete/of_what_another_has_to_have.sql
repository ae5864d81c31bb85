-- native_mutations
-- deleteDriver
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- deleteDriver: clear driver_id of Car where driver_id in values
UPDATE "Car" AS t0 SET "driver_id" = NULL WHERE t0."driver_id" IN (SELECT value FROM json_each(?1))

-- deleteDriver: delete rows of Driver where id in values
DELETE FROM "Driver" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
