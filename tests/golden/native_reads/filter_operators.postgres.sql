-- native_reads
-- both
SELECT t0."name" FROM "public"."City" AS t0 WHERE (t0."population" < $1 AND t0."population" >= $2) ORDER BY t0."id"

-- null
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."population" IS NULL ORDER BY t0."id"

-- not
SELECT t0."name" FROM "public"."City" AS t0 WHERE (t0."population" > $1) IS NOT TRUE ORDER BY t0."id"

-- between
SELECT t0."name" FROM "public"."City" AS t0 WHERE (t0."population" >= $1 AND t0."population" <= $2) ORDER BY t0."id"

-- false
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."done" = $1 ORDER BY t0."id"

-- enum
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."mood" = ANY($1) ORDER BY t0."id"

-- list
SELECT t0."name" FROM "public"."City" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."City_tags" AS t1 WHERE t1."id" = t0."id" AND t1."value" = $1) ORDER BY t0."id"

-- ignored
SELECT t0."name" FROM "public"."City" AS t0 ORDER BY t0."id"
