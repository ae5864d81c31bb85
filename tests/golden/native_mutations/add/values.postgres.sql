-- native_mutations
-- addCity
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."founded" AS c1, t0."id" AS c2, t0."at_longitude" AS c3, t0."at_latitude" AS c4 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2, l0.c3, l0.c4 FROM l0 UNION ALL (SELECT 1::int2, t1."id", t1."value", NULL, NULL, NULL FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t1."place")
