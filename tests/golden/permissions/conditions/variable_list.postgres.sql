-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
