-- native_reads
-- needed
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id"

-- any
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id"

-- variable
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id"
