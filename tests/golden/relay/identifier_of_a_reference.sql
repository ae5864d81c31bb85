-- relay
-- crew_connection.edges
SELECT t0."name", t0."boat_id" FROM "crew" AS t0 ORDER BY t0."id" LIMIT ?1

-- crew_connection.edges.node.boat
SELECT t0."id" FROM "boat" AS t0 WHERE t0."id" = ?1
