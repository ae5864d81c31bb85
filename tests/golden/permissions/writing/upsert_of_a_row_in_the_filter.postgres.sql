-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES ($1, $2, $3, $4) ON CONFLICT ON CONSTRAINT "boat_name_key" DO UPDATE SET "price" = excluded."price" WHERE (t0."owner" = $5 AND t0."owner" IS NOT NULL) RETURNING "id", "owner", (CASE WHEN t0."price" < $6 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
