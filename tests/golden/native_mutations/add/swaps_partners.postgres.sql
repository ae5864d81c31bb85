-- native_mutations
-- addCar
WITH l0 AS MATERIALIZED (SELECT t0."plate" AS c0, t0."driver_id" AS c1 FROM "public"."Car" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."id" AS c1 FROM "public"."Driver" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1 FROM l1 UNION ALL SELECT 2::int2, t2."plate", t2."driver_id" FROM "public"."Car" AS t2 WHERE t2."driver_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

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

-- addCar: update rows of Car (plate) where id = value
UPDATE "public"."Car" AS t0 SET "plate" = $1 WHERE t0."id" = $2

-- addCar: clear driver_id of Car where driver_id = value and id <> value
UPDATE "public"."Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = $1 AND t0."id" <> $2)

-- addCar: update rows of Car (driver_id) where id = value
UPDATE "public"."Car" AS t0 SET "driver_id" = $1 WHERE t0."id" = $2
