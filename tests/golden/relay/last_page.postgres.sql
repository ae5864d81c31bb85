-- relay
-- boat_connection.edges, boat_connection.pageInfo.hasNextPage, boat_connection.pageInfo.hasPreviousPage
(SELECT 0::int2, t1."name" FROM (SELECT t0.* FROM "public"."boat" AS t0 WHERE t0."id" < $1 ORDER BY t0."id" DESC LIMIT $2) AS t1 ORDER BY t1."id") UNION ALL (SELECT 1::int2, NULL FROM "public"."boat" AS t2 WHERE t2."id" >= $1 LIMIT $3) UNION ALL (SELECT 2::int2, NULL FROM "public"."boat" AS t3 WHERE t3."id" < $1 LIMIT $3 OFFSET $4)
