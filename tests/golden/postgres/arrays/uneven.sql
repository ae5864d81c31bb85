-- postgres
-- list
INSERT INTO "public"."list" AS t0 ("id", "numbers") VALUES ($1, $2) RETURNING "numbers"
