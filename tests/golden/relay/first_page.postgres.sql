-- relay
-- boat_connection.edges, boat_connection.pageInfo.hasNextPage
(SELECT 0::int2, t0."id", t0."name" FROM "public"."boat" AS t0 ORDER BY t0."id" LIMIT $1) UNION ALL (SELECT 1::int2, NULL, NULL FROM "public"."boat" AS t1 LIMIT $2 OFFSET $3)
