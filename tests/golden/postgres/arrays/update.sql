-- postgres
-- list
UPDATE "public"."list" AS t0 SET "numbers" = $1, "words" = NULL, "prices" = $2 WHERE t0."id" = $3 RETURNING "numbers", "words", "prices"
