-- postgres
-- sale
UPDATE "public"."sale" AS t0 SET "small" = t0."small" + $1, "large" = t0."large" + $2, "digits" = t0."digits" + $3, "single" = t0."single" + $4, "double" = t0."double" + $5, "price" = t0."price" + $6 WHERE t0."id" = $7 RETURNING "small", "large", "digits", "single", "double", "price"
