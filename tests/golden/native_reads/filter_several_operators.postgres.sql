-- native_reads
-- queryCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE (to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $1) AND to_tsvector('simple', public.weir_words(t0."name")) @@ to_tsquery('simple', $2) AND t0."population" = ANY($3) AND t0."population" < $4 AND t0."population" >= $5) ORDER BY t0."id"
