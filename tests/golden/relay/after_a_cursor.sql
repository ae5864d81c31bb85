-- relay
-- boat_connection.edges
SELECT t0."id", t0."name" FROM "boat" AS t0 WHERE t0."id" > ?1 ORDER BY t0."id" LIMIT ?2

-- boat_connection.pageInfo.hasNextPage
SELECT 1 FROM "boat" AS t0 WHERE t0."id" > ?1 LIMIT ?2 OFFSET ?3

-- boat_connection.pageInfo.hasPreviousPage
SELECT 1 FROM "boat" AS t0 WHERE t0."id" <= ?1 LIMIT ?2
