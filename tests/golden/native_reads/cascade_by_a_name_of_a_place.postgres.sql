-- native_reads
-- queryCity
SELECT t0."name", t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 WHERE t0."at_longitude" IS NOT NULL ORDER BY t0."id"
