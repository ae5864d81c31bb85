-- native_mutations
-- updatePerson
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- updatePerson
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")

-- again
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- again
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")
