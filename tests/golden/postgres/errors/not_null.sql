-- postgres
-- flight
INSERT INTO "public"."flight" AS t0 ("line", "number", "seats") VALUES ($1, $2, $3) RETURNING "line"
