-- native_reads
-- needed
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)

-- any
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)

-- variable
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)
