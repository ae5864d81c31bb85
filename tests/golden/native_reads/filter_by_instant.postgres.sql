-- native_reads
-- queryCity
SELECT t0."name", t0."founded" FROM "public"."City" AS t0 WHERE t0."founded_at" > $1 ORDER BY t0."id"
