-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE (t0."price" < $1 OR (t0."owner" = $2 AND t0."owner" IS NOT NULL)) ORDER BY CASE WHEN (t0."owner" = $2 AND t0."owner" IS NOT NULL) THEN t0."owner" END NULLS FIRST LIMIT $3
