-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 ORDER BY t0."id"
