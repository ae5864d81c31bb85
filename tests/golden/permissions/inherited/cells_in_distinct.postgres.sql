-- permissions
-- boat
SELECT DISTINCT ON (CASE WHEN (t0."owner" = $1 AND t0."owner" IS NOT NULL) THEN t0."owner" END) CASE WHEN (t0."owner" = $1 AND t0."owner" IS NOT NULL) THEN t0."owner" END FROM "public"."boat" AS t0 WHERE (t0."price" < $2 OR (t0."owner" = $1 AND t0."owner" IS NOT NULL)) ORDER BY CASE WHEN (t0."owner" = $1 AND t0."owner" IS NOT NULL) THEN t0."owner" END, t0."id" LIMIT $3
