-- relay
-- boat_connection.edges
SELECT t1."name" FROM (SELECT t0.* FROM "boat" AS t0 WHERE (t0."id") IN (SELECT t2."id" FROM "boat" AS t2 ORDER BY t2."id" LIMIT ?1) ORDER BY t0."id" DESC LIMIT ?2) AS t1 ORDER BY t1."id"

-- boat_connection.pageInfo.hasPreviousPage
SELECT 1 FROM "boat" AS t0 WHERE (t0."id") IN (SELECT t1."id" FROM "boat" AS t1 ORDER BY t1."id" LIMIT ?1) LIMIT ?2 OFFSET ?3
