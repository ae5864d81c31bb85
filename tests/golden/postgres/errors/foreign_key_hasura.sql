-- postgres
-- booking
INSERT INTO "public"."booking" AS t0 ("line", "number", "seat", "passenger") VALUES ($1, $2, $3, $4) RETURNING "id"
