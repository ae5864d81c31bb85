-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "price", "harbour_id") VALUES ($1, $2, $3) ON CONFLICT ON CONSTRAINT "boat_name_key" DO UPDATE SET "price" = excluded."price" WHERE t0."price" > $4 RETURNING (CASE WHEN t0."price" < $5 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
