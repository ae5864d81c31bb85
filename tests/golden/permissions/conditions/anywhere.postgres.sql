-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."member" AS t1 WHERE t1."login" = $1) ORDER BY t0."id"
