-- postgres
-- car
INSERT INTO "public"."car" AS t0 ("id", "color") VALUES ($1, $2) RETURNING "id", "color"
