-- native_mutations
-- licence
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- licence
WITH l0 AS MATERIALIZED (SELECT t0."licence_id" AS c0 FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."number" AS c0, t1."id" AS c1 FROM "public"."Licence" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::int8, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1, NULL FROM l1 UNION ALL SELECT 2::int2, t2."licence_id", NULL, t2."name" FROM "public"."Driver" AS t2 WHERE t2."licence_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- car
SELECT t0."id" FROM "public"."Car" AS t0 WHERE t0."plate" = $1 ORDER BY t0."id"

-- car
WITH l0 AS MATERIALIZED (SELECT t0."driver_id" AS c0 FROM "public"."Car" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."id" AS c1 FROM "public"."Driver" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."driver_id", t2."plate" FROM "public"."Car" AS t2 WHERE t2."driver_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))
