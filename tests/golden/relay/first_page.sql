-- relay
-- boat_connection.edges
SELECT t0."id", t0."name" FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1

-- boat_connection.pageInfo.hasNextPage
SELECT 1 FROM "boat" AS t0 LIMIT ?1 OFFSET ?2
