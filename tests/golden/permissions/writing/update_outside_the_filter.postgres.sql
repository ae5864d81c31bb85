-- permissions
-- boat
UPDATE "public"."boat" AS t0 SET "price" = $1 WHERE (t0."owner" = $2 AND t0."owner" IS NOT NULL) AND t0."id" = $3 RETURNING "id", (CASE WHEN t0."price" < $4 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz

-- boat
UPDATE "public"."boat" AS t0 SET "price" = $1 WHERE (t0."owner" = $2 AND t0."owner" IS NOT NULL) AND t0."name" = $3 RETURNING (CASE WHEN t0."price" < $4 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
