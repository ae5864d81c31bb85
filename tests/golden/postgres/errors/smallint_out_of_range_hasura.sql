-- postgres
-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "small") VALUES ($1, $2) RETURNING "id"
