-- permissions
-- boat, visible
(SELECT 0::int2, t0."id" FROM "public"."boat" AS t0 WHERE (t0."price" < $1 OR (t0."owner" = $2 AND t0."owner" IS NOT NULL)) AND CASE WHEN (t0."owner" = $2 AND t0."owner" IS NOT NULL) THEN t0."owner" = $3 END LIMIT $4) UNION ALL (SELECT 1::int2, t1."id" FROM "public"."boat" AS t1 WHERE (t1."price" < $1 OR (t1."owner" = $2 AND t1."owner" IS NOT NULL)) AND CASE WHEN (t1."owner" = $2 AND t1."owner" IS NOT NULL) THEN t1."owner" END IS NULL LIMIT $4)
