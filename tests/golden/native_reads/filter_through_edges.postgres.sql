-- native_reads
-- queryCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Country" AS t1 WHERE t1."id" = t0."country_id" AND t1."code" = $1) ORDER BY t0."id"

-- queryCountry
SELECT t0."code" FROM "public"."Country" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."City" AS t1 WHERE t1."country_id" = t0."id" AND t1."population" > $1) ORDER BY t0."id"

-- has
SELECT t0."name" FROM "public"."City" AS t0 WHERE (t0."population" IS NOT NULL AND t0."area" IS NOT NULL) ORDER BY t0."id"

-- deep
SELECT t0."code" FROM "public"."Country" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."City" AS t1 WHERE t1."country_id" = t0."id" AND EXISTS (SELECT 1 FROM "public"."Country" AS t2 WHERE t2."id" = t1."country_id" AND EXISTS (SELECT 1 FROM "public"."City" AS t3 WHERE t3."country_id" = t2."id" AND t3."name" = $1))) ORDER BY t0."id"
