-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "harbour_id", "owner") VALUES ($1, $2, $3) RETURNING (CASE WHEN t0."price" < $4 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
