-- relay
-- boat_connection.edges, boat_connection.pageInfo.hasNextPage, boat_connection.pageInfo.hasPreviousPage
(SELECT 0::int2, t0."id", t0."name" FROM "public"."boat" AS t0 WHERE t0."id" > $1 ORDER BY t0."id" LIMIT $2) UNION ALL (SELECT 1::int2, NULL, NULL FROM "public"."boat" AS t1 WHERE t1."id" > $1 LIMIT $3 OFFSET $4) UNION ALL (SELECT 2::int2, NULL, NULL FROM "public"."boat" AS t2 WHERE t2."id" <= $1 LIMIT $3)
