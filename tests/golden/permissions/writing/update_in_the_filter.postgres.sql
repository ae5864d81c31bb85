-- permissions
-- boat
UPDATE "public"."boat" AS t0 SET "price" = $1 WHERE (t0."owner" = $2 AND t0."owner" IS NOT NULL) RETURNING "id", (CASE WHEN t0."price" < $3 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
