-- postgres
-- measure
INSERT INTO "public"."measure" AS t0 ("year", "value") VALUES ($1, $2) RETURNING "year", "value"
