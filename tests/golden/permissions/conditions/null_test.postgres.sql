-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE t0."sold_at" IS NULL ORDER BY t0."id"
