-- postgres
-- list
INSERT INTO "public"."list" AS t0 ("id", "numbers", "words", "moods", "documents", "homes", "days", "prices") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING "numbers", "words", "grid", "moods", "documents", "homes", "days", "prices"
