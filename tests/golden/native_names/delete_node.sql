-- native_names
-- deleteNode
SELECT t0."id" FROM "Node_all" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- deleteNode: find id, type of Node where id in values
SELECT t0."id", t0."type" FROM "Node" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteNode: clear then_id of Part where then_id in values
UPDATE "Part" AS t0 SET "then_id" = NULL WHERE t0."then_id" IN (SELECT value FROM json_each(?1))

-- deleteNode: clear has_id of Owner where has_id in values
UPDATE "Owner" AS t0 SET "has_id" = NULL WHERE t0."has_id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Part_not where id in values
DELETE FROM "Part_not" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Part where id in values
DELETE FROM "Part" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Node where id in values
DELETE FROM "Node" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Owner_or where owner_id in values
DELETE FROM "Owner_or" AS t0 WHERE t0."owner_id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Owner_or where or_id in values
DELETE FROM "Owner_or" AS t0 WHERE t0."or_id" IN (SELECT value FROM json_each(?1))

-- deleteNode: delete rows of Owner where id in values
DELETE FROM "Owner" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteNode.node
SELECT t0."type", t0."id" FROM "Node" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
