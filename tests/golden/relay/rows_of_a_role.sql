-- relay
-- boat_connection.edges
SELECT t0."id", t0."name" FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) ORDER BY t0."id" LIMIT ?2

-- boat_connection.pageInfo.hasNextPage
SELECT 1 FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) LIMIT ?2 OFFSET ?3
