-- native_reads
-- queryCity
SELECT t0."name", t0."at_longitude", t0."at_latitude", t0."region", t0."parts" FROM "public"."City" AS t0 ORDER BY t0."id"
