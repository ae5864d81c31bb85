-- native_reads
-- getCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."id" = $1
