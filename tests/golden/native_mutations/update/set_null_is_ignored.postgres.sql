-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."id" AS c1 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", NULL, t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place")

-- updateCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING
