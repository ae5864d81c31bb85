-- relay
-- crew_connection.edges, crew_connection.edges.node.boat
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."boat_id" AS c1 FROM "public"."crew" AS t0 ORDER BY t0."id" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, NULL, t1."id" FROM "public"."boat" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
