-- native_mutations
-- addCar
WITH l0 AS MATERIALIZED (SELECT t0."plate" AS c0, t0."driver_id" AS c1 FROM "public"."Car" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."id" AS c1 FROM "public"."Driver" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1 FROM l1 UNION ALL SELECT 2::int2, t2."plate", t2."driver_id" FROM "public"."Car" AS t2 WHERE t2."driver_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))
