-- postgres
-- contains
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" @> $1

-- nested
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" @> $1

-- listed
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" = ANY($1)

-- contained
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."binary_document" <@ $1
