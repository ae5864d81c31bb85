-- native_reads
-- terms
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- any
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- text
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('english', public.weir_words(t0."name")) @@ to_tsquery('english', $1) ORDER BY t0."id"

-- pattern
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."name" ~ $1 ORDER BY t0."id" OFFSET 0 * num_nulls('' ~ $1)

-- quoted
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $1) ORDER BY t0."id"

-- empty
SELECT t0."name" FROM "public"."City" AS t0 WHERE to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $1) ORDER BY t0."id"
