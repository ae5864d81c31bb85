-- relay
-- harbour_connection.edges
SELECT t0."name", t0."country", t0."code" FROM "harbour" AS t0 ORDER BY t0."country", t0."code"

-- harbour_connection.edges.node.boats_connection.edges
SELECT t0."name" FROM "boat" AS t0 WHERE t0."country" = ?1 AND t0."code" = ?2 ORDER BY t0."name" DESC, t0."id" LIMIT ?3

-- harbour_connection.edges.node.boats_connection.pageInfo.hasNextPage
SELECT 1 FROM "boat" AS t0 WHERE t0."country" = ?1 AND t0."code" = ?2 LIMIT ?3 OFFSET ?4
