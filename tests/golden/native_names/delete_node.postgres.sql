-- native_names
-- deleteNode
SELECT t0."id" FROM "public"."Node_all" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- deleteNode
SELECT t0."type", t0."id" FROM "public"."Node" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
