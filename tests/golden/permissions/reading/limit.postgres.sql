-- permissions
-- boat, more, less
(SELECT 0::int2, t0."id" FROM "public"."boat" AS t0 ORDER BY t0."id" LIMIT $1) UNION ALL (SELECT 1::int2, t1."id" FROM "public"."boat" AS t1 ORDER BY t1."id" LIMIT $2) UNION ALL (SELECT 2::int2, t2."id" FROM "public"."boat" AS t2 LIMIT $3)
