-- postgres
-- contains
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" @> $1

-- contained_in
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" <@ $1

-- has_key
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" ? $1

-- has_keys_any
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" ?| $1

-- has_keys_all
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" ?& $1

-- cast
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document"::text LIKE $1

-- equal
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" = $1
