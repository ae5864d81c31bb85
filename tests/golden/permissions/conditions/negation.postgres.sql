-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE NOT ((t0."owner" = $1 AND t0."owner" IS NOT NULL)) ORDER BY t0."id"
