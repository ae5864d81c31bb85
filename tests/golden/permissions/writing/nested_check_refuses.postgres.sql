-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES ($1, $2, $3, $4) RETURNING "id", (CASE WHEN t0."price" < $5 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz

-- crew
INSERT INTO "public"."crew" AS t0 ("name", "boat_id") VALUES ($1, $2) RETURNING (CASE WHEN t0."name" <> $3 THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
