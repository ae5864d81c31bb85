-- postgres
-- room
INSERT INTO "public"."room" AS t0 ("id", "during") VALUES ($1, $2) RETURNING "id"
