-- postgres
-- list
INSERT INTO "public"."list" AS t0 ("id", "documents") VALUES ($1, $2) RETURNING "documents"
