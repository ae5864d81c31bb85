-- relay
-- boat_connection.edges, boat_connection.pageInfo.hasNextPage
(SELECT 0::int2, t0."id", t0."name" FROM "public"."boat" AS t0 WHERE (t0."owner" = $1 AND t0."owner" IS NOT NULL) ORDER BY t0."id" LIMIT $2) UNION ALL (SELECT 1::int2, NULL, NULL FROM "public"."boat" AS t1 WHERE (t1."owner" = $1 AND t1."owner" IS NOT NULL) LIMIT $3 OFFSET $4)
