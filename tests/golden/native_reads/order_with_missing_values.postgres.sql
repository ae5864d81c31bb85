-- native_reads
-- asc
SELECT t0."name" FROM "public"."City" AS t0 ORDER BY t0."population", t0."id"

-- desc
SELECT t0."name" FROM "public"."City" AS t0 ORDER BY t0."population" DESC NULLS LAST, t0."id"

-- last
SELECT t1."name" FROM (SELECT t0.* FROM "public"."City" AS t0 ORDER BY t0."population" DESC, t0."id" DESC LIMIT $1) AS t1 ORDER BY t1."population", t1."id"
