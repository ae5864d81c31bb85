-- postgres
-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "share") VALUES ($1, $2) RETURNING "id"
