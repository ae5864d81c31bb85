-- native_mutations
-- updateDriver
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateDriver
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."id" AS c1, t0."licence_id" AS c2 FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."plate" AS c0, t1."driver_id" AS c1 FROM "public"."Car" AS t1 WHERE t1."driver_id" = ANY(ARRAY(SELECT l0.c1 FROM l0))), l3 AS MATERIALIZED (SELECT t3."number" AS c0, t3."id" AS c1 FROM "public"."Licence" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT l0.c2 FROM l0))) SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1, NULL FROM l1 UNION ALL SELECT 2::int2, t2."name", t2."id", NULL FROM "public"."Driver" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) UNION ALL SELECT 3::int2, NULL, l3.c0, l3.c1 FROM l3 UNION ALL SELECT 4::int2, t4."name", t4."licence_id", NULL FROM "public"."Driver" AS t4 WHERE t4."licence_id" = ANY(ARRAY(SELECT l3.c1 FROM l3))

-- updateDriver: find id of Licence where number = value
SELECT t0."id" FROM "public"."Licence" AS t0 WHERE t0."number" = $1

-- updateDriver: find id of Car where plate = value
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."plate" = $1

-- updateDriver: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateDriver: find licence_id of Driver where id in values
SELECT t0."licence_id" FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1)

-- updateDriver: find id of Car where driver_id in values
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."driver_id" = ANY($1)

-- updateDriver: clear driver_id of Car where driver_id = value and id <> value
UPDATE "public"."Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = $1 AND t0."id" <> $2)

-- updateDriver: insert a row of Licence (id, number)
INSERT INTO "public"."Licence" AS t0 ("id", "number") VALUES ($1, $2)

-- updateDriver: insert a row of Car (id, plate, driver_id)
INSERT INTO "public"."Car" AS t0 ("id", "plate", "driver_id") VALUES ($1, $2, $3)

-- updateDriver: update rows of Driver (licence_id) where id = value
UPDATE "public"."Driver" AS t0 SET "licence_id" = $1 WHERE t0."id" = $2

-- updateDriver: clear licence_id of Driver where licence_id = value and id <> value
UPDATE "public"."Driver" AS t0 SET "licence_id" = NULL WHERE (t0."licence_id" = $1 AND t0."id" <> $2)

-- updateDriver: update rows of Car (driver_id) where id = value
UPDATE "public"."Car" AS t0 SET "driver_id" = $1 WHERE t0."id" = $2
