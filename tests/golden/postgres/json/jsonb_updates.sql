-- postgres
-- scalar
UPDATE "public"."scalar" AS t0 SET "binary_document" = t0."binary_document" || $1 WHERE t0."id" = $2 RETURNING "binary_document"

-- scalar
UPDATE "public"."scalar" AS t0 SET "binary_document" = $1 || t0."binary_document" WHERE t0."id" = $2 RETURNING "binary_document"

-- scalar
UPDATE "public"."scalar" AS t0 SET "binary_document" = t0."binary_document" - $1 WHERE t0."id" = $2 RETURNING "binary_document"

-- scalar
UPDATE "public"."scalar" AS t0 SET "binary_document" = t0."binary_document" - $1 WHERE t0."id" = $2 RETURNING "binary_document"

-- scalar
UPDATE "public"."scalar" AS t0 SET "binary_document" = t0."binary_document" #- $1 WHERE t0."id" = $2 RETURNING "binary_document"
