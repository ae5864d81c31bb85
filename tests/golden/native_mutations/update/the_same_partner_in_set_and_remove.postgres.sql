-- native_mutations
-- licence
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- licence
WITH l0 AS MATERIALIZED (SELECT t0."licence_id" AS c0 FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."number" AS c0, t1."id" AS c1 FROM "public"."Licence" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::int8, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1, NULL FROM l1 UNION ALL SELECT 2::int2, t2."licence_id", NULL, t2."name" FROM "public"."Driver" AS t2 WHERE t2."licence_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- car
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."plate" = $1 ORDER BY t0."id"

-- car
WITH l0 AS MATERIALIZED (SELECT t0."driver_id" AS c0 FROM "public"."Car" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."id" AS c1 FROM "public"."Driver" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."driver_id", t2."plate" FROM "public"."Car" AS t2 WHERE t2."driver_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- licence: find id of Licence where number = value
SELECT t0."id" FROM "public"."Licence" AS t0 WHERE t0."number" = $1

-- licence: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- licence: find licence_id of Driver where id in values
SELECT t0."licence_id" FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1)

-- licence: insert a row of Licence (id, number)
INSERT INTO "public"."Licence" AS t0 ("id", "number") VALUES ($1, $2)

-- licence: update rows of Driver (licence_id) where id = value
UPDATE "public"."Driver" AS t0 SET "licence_id" = $1 WHERE t0."id" = $2

-- licence: update rows of Driver (licence_id) where id in values and licence_id = value
UPDATE "public"."Driver" AS t0 SET "licence_id" = $1 WHERE (t0."id" = ANY($2) AND t0."licence_id" = $3)

-- licence: clear licence_id of Driver where licence_id = value and id <> value
UPDATE "public"."Driver" AS t0 SET "licence_id" = NULL WHERE (t0."licence_id" = $1 AND t0."id" <> $2)

-- car: find id of Driver where name = value
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1

-- car: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- car: insert a row of Driver (id, name, licence_id)
INSERT INTO "public"."Driver" AS t0 ("id", "name", "licence_id") VALUES ($1, $2, $3)

-- car: update rows of Car (driver_id) where id = value
UPDATE "public"."Car" AS t0 SET "driver_id" = $1 WHERE t0."id" = $2

-- car: find id of Car where driver_id = value
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."driver_id" = $1

-- car: clear driver_id of Car where driver_id = value and id <> value
UPDATE "public"."Car" AS t0 SET "driver_id" = NULL WHERE (t0."driver_id" = $1 AND t0."id" <> $2)
