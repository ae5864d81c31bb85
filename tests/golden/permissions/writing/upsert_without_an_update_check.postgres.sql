-- permissions
-- boat
INSERT INTO "public"."boat" AS t0 ("name", "price", "harbour_id") VALUES ($1, $2, $3) ON CONFLICT ON CONSTRAINT "boat_name_key" DO UPDATE SET "price" = excluded."price" WHERE t0."price" > $4 RETURNING (CASE WHEN CASE WHEN t0.xmax = 0 THEN t0."price" < $5 ELSE (t0."price" < $5 AND t0."price" > $4) END THEN NULL ELSE 'weir: a written row breaks the check of a permission' END)::timestamptz
