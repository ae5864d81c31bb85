-- permissions
-- boat
SELECT t0."id", t0."owner", t0."price" FROM "public"."boat" AS t0 ORDER BY t0."id"
