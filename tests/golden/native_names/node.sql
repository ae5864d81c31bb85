-- native_names
-- queryNode
SELECT t0."type", t0."id" FROM "Node" AS t0 ORDER BY t0."id" LIMIT ?1 OFFSET ?2

-- queryNode
SELECT t0."id", t0."name" FROM "Owner" AS t0 WHERE t0."id" = ?1

-- queryNode
SELECT t0."id", t0."desc" FROM "Part" AS t0 WHERE t0."id" = ?1

-- getNode
SELECT t0."type", t0."id" FROM "Node" AS t0 WHERE t0."id" = ?1

-- aggregateNode
SELECT count(*) FROM "Node_all" AS t0 WHERE (t0."id" IN (SELECT value FROM json_each(?1))) IS NOT TRUE
