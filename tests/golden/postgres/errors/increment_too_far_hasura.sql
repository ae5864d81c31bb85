-- postgres
-- sale
UPDATE "public"."sale" AS t0 SET "large" = t0."large" + $1 WHERE t0."id" = $2 RETURNING "large"
