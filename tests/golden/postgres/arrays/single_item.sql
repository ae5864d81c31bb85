-- postgres
-- list
INSERT INTO "public"."list" AS t0 ("id", "words") VALUES ($1, $2) RETURNING "id", "numbers", "words"

-- list
INSERT INTO "public"."list" AS t0 ("id", "numbers") VALUES ($1, $2) RETURNING "id", "numbers", "words"
