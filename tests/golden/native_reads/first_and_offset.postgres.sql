-- native_reads
-- two, last, all, one
(SELECT 0::int2, t0."name" FROM "public"."City" AS t0 ORDER BY t0."id" LIMIT $1) UNION ALL (SELECT 1::int2, t2."name" FROM (SELECT t1.* FROM "public"."City" AS t1 ORDER BY t1."id" DESC LIMIT $2) AS t2 ORDER BY t2."id") UNION ALL (SELECT 2::int2, t3."name" FROM "public"."City" AS t3 ORDER BY t3."id" LIMIT $3 OFFSET $4) UNION ALL (SELECT 3::int2, t4."name" FROM "public"."City" AS t4 ORDER BY t4."id" LIMIT $5 OFFSET $6)
