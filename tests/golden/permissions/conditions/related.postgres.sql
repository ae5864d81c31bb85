-- permissions
-- boat
SELECT t0."id" FROM "public"."boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."harbour" AS t1 WHERE t1."id" = t0."harbour_id" AND t1."name" = $1) ORDER BY t0."id"
