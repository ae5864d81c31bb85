-- postgres
-- late_flight
INSERT INTO "public"."late_flight" AS t0 ("line", "number", "seats") VALUES ($1, $2, $3) RETURNING "number", "seats"
