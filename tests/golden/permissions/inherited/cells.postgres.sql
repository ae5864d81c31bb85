-- permissions
-- boat
SELECT t0."id", t0."name", CASE WHEN (t0."owner" = $1 AND t0."owner" IS NOT NULL) THEN t0."owner" END, CASE WHEN t0."price" < $2 THEN t0."price" END FROM "public"."boat" AS t0 WHERE (t0."price" < $2 OR (t0."owner" = $1 AND t0."owner" IS NOT NULL)) ORDER BY t0."id" LIMIT $3
