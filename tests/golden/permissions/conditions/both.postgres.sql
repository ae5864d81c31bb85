-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE ((t0."owner" = $1 AND t0."owner" IS NOT NULL) AND t0."price" > $2) ORDER BY t0."id"
