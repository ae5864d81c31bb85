-- postgres
-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "digits", "double") VALUES ($1, $2, $3) RETURNING "digits", "double"

-- scalar
INSERT INTO "public"."scalar" AS t0 ("id", "digits", "double") VALUES ($1, $2, $3) RETURNING "digits", "double"

-- scalar
UPDATE "public"."scalar" AS t0 SET "double" = $1 WHERE t0."digits" = $2 RETURNING "id", "double"
