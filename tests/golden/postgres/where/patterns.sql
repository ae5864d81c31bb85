-- postgres
-- like
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" LIKE $1

-- ilike
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" ILIKE $1

-- nlike
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" NOT LIKE $1

-- similar
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" SIMILAR TO $1 OFFSET 0 * num_nulls('' SIMILAR TO $1)

-- nsimilar
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" NOT SIMILAR TO $1 OFFSET 0 * num_nulls('' SIMILAR TO $1)

-- regex
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" ~ $1 OFFSET 0 * num_nulls('' ~ $1)

-- iregex
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" ~* $1 OFFSET 0 * num_nulls('' ~ $1)

-- back_reference
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."mail" ~ $1 OFFSET 0 * num_nulls('' ~ $1)

-- nregex
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" !~ $1 OFFSET 0 * num_nulls('' ~ $1)

-- niregex
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."words" !~* $1 OFFSET 0 * num_nulls('' ~ $1)
