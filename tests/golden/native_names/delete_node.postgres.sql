-- native_names
-- deleteNode
SELECT t0."id" FROM "public"."Node_all" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- deleteNode
SELECT t0."type", t0."id" FROM "public"."Node" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- deleteNode: find id, type of Node where id in values
SELECT t0."id", t0."type" FROM "public"."Node" AS t0 WHERE t0."id" = ANY($1)

-- deleteNode: clear then_id of Part where then_id in values
UPDATE "public"."Part" AS t0 SET "then_id" = NULL WHERE t0."then_id" = ANY($1)

-- deleteNode: clear has_id of Owner where has_id in values
UPDATE "public"."Owner" AS t0 SET "has_id" = NULL WHERE t0."has_id" = ANY($1)

-- deleteNode: delete rows of Part_not where id in values
DELETE FROM "public"."Part_not" AS t0 WHERE t0."id" = ANY($1)

-- deleteNode: delete rows of Part where id in values
DELETE FROM "public"."Part" AS t0 WHERE t0."id" = ANY($1)

-- deleteNode: delete rows of Node where id in values
DELETE FROM "public"."Node" AS t0 WHERE t0."id" = ANY($1)

-- deleteNode: delete rows of Owner_or where owner_id in values
DELETE FROM "public"."Owner_or" AS t0 WHERE t0."owner_id" = ANY($1)

-- deleteNode: delete rows of Owner_or where or_id in values
DELETE FROM "public"."Owner_or" AS t0 WHERE t0."or_id" = ANY($1)

-- deleteNode: delete rows of Owner where id in values
DELETE FROM "public"."Owner" AS t0 WHERE t0."id" = ANY($1)
