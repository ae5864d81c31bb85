-- native_mutations
-- updateDriver
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateDriver
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."id" AS c1, t0."licence_id" AS c2 FROM "public"."Driver" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."plate" AS c0, t1."driver_id" AS c1 FROM "public"."Car" AS t1 WHERE t1."driver_id" = ANY(ARRAY(SELECT l0.c1 FROM l0))), l3 AS MATERIALIZED (SELECT t3."number" AS c0, t3."id" AS c1 FROM "public"."Licence" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT l0.c2 FROM l0))) SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1, NULL FROM l1 UNION ALL SELECT 2::int2, t2."name", t2."id", NULL FROM "public"."Driver" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) UNION ALL SELECT 3::int2, NULL, l3.c0, l3.c1 FROM l3 UNION ALL SELECT 4::int2, t4."name", t4."licence_id", NULL FROM "public"."Driver" AS t4 WHERE t4."licence_id" = ANY(ARRAY(SELECT l3.c1 FROM l3))
