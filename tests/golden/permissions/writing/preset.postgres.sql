-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES ($1, $2, $3, $4) RETURNING "id", "owner", (CASE WHEN t0."price" < $5 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
