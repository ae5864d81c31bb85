-- relay
-- boat_connection.edges, edges.edges
(SELECT 0::int2 FROM "public"."boat" AS t0 ORDER BY t0."id" LIMIT $1) UNION ALL (SELECT 1::int2 FROM "public"."boat" AS t1 ORDER BY t1."id" LIMIT $2)
