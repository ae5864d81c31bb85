-- postgres
-- list
INSERT INTO "public"."list" AS t0 ("id", "numbers", "words", "grid") VALUES ($1, $2, $3, $4) RETURNING "numbers", "grid", "words"

-- list
INSERT INTO "public"."list" AS t0 ("id", "numbers", "words", "grid", "prices") VALUES ($1, $2, $3, $4, $5) RETURNING "numbers", "grid", "prices", "words"

-- list
UPDATE "public"."list" AS t0 SET "numbers" = $1 WHERE t0."numbers" = $2 RETURNING "id", "numbers"
