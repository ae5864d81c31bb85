-- relay
-- boat_connection.edges
SELECT 1 FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1

-- edges.edges
SELECT 1 FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1
