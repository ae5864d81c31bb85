-- native_names
-- deleteNode
SELECT t0."id" FROM "Node_all" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- deleteNode.node
SELECT t0."type", t0."id" FROM "Node" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
