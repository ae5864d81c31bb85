-- native_reads
-- wins
SELECT t0."name" FROM "public"."City" AS t0 WHERE (t0."population" = $1 OR t0."name" = $2 OR t0."name" = $3) ORDER BY t0."id"

-- inner
SELECT t0."name" FROM "public"."City" AS t0 WHERE ((t0."name" = $1 OR t0."name" = $2) AND t0."population" > $3) ORDER BY t0."id"
