-- native_mutations
-- stored
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- stored
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."capitalOf_id" AS c1 FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- other
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- other
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."capitalOf_id" AS c1 FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- back
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- back
WITH l0 AS MATERIALIZED (SELECT t0."capitalOf_id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."code" AS c0, t1."id" AS c1 FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."capitalOf_id", t2."name" FROM "public"."City" AS t2 WHERE t2."capitalOf_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- required
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- required
WITH l0 AS MATERIALIZED (SELECT t0."country_id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."id", t1."code" FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c0 FROM l0))

-- list
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- list
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")

-- married
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- married
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."email" AS c0, t1."spouse_id" AS c1, t1."id" AS k0 FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."email", NULL FROM "public"."Person" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- mutual
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- mutual
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."email" AS c0, t1."spouse_id" AS c1, t1."id" AS k0 FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."email", NULL FROM "public"."Person" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- same
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- same
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."capitalOf_id", t1."name" FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))

-- null
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- null
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0, t0."id" AS c1 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."id", NULL, t1."email" FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) UNION ALL (SELECT 2::int2, t3."person_id", NULL, t2."name" FROM "public"."City_lovers" AS t3 JOIN "public"."City" AS t2 ON t2."id" = t3."city_id" WHERE t3."person_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t3."city_id")
