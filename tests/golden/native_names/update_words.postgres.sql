-- native_names
-- updatePart
SELECT t0."id" FROM "public"."Part" AS t0 WHERE t0."and" = $1 ORDER BY t0."id"

-- updatePart
SELECT t0."has" FROM "public"."Part" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- upsert
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."has_id" AS c1, t0."id" AS c2 FROM "public"."Owner" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."has", t1."id", NULL FROM "public"."Part" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL (SELECT 2::int2, t2."name", t3."owner_id", NULL FROM "public"."Owner_or" AS t3 JOIN "public"."Owner" AS t2 ON t2."id" = t3."or_id" WHERE t3."owner_id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t2."name", t3."or_id")
