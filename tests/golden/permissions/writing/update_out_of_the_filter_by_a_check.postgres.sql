-- permissions
-- boat
UPDATE "public"."boat" AS t0 SET "price" = $1 WHERE t0."price" > $2 RETURNING (CASE WHEN (1 = 1) THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
