-- permissions
-- boat_by_pk, mine
SELECT 0::int2, t0."id" FROM "public"."boat" AS t0 WHERE (t0."owner" = $1 AND t0."owner" IS NOT NULL) AND t0."id" = $2 UNION ALL SELECT 1::int2, t1."id" FROM "public"."boat" AS t1 WHERE (t1."owner" = $1 AND t1."owner" IS NOT NULL) AND t1."id" = $3
