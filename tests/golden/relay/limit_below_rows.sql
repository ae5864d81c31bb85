-- relay
-- harbour_connection.edges
SELECT t0."name", t0."country", t0."code" FROM "harbour" AS t0 ORDER BY t0."country", t0."code"

-- harbour_connection.edges.node.boats_connection.edges
SELECT t0."name" FROM "boat" AS t0 WHERE t0."country" = ?1 AND t0."code" = ?2 AND (t0."id") IN (SELECT t1."id" FROM "boat" AS t1 WHERE (t1."country" = t0."country" AND t1."code" = t0."code") ORDER BY t1."id" LIMIT ?3) ORDER BY t0."id" LIMIT ?4

-- harbour_connection.edges.node.boats_connection.pageInfo.hasNextPage
SELECT 1 FROM "boat" AS t0 WHERE t0."country" = ?1 AND t0."code" = ?2 AND (t0."id") IN (SELECT t1."id" FROM "boat" AS t1 WHERE (t1."country" = t0."country" AND t1."code" = t0."code") ORDER BY t1."id" LIMIT ?3) LIMIT ?4 OFFSET ?5
