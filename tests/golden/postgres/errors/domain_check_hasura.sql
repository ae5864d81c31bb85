-- postgres
-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "mail") VALUES ($1, $2) RETURNING "id"
