-- native_rules
-- updateLog
SELECT t0."id" FROM "public"."Log" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 WHERE t1."id" = t0."by_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) ORDER BY t0."id"

-- updateLog
SELECT t0."id" FROM "public"."Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 JOIN "public"."Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" = ANY($2)

-- updateLog
SELECT t0."id" FROM "public"."Log" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 WHERE t1."id" = t0."by_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateLog
SELECT t0."id" FROM "public"."Sailor" AS t0 WHERE (t0."login" = $1 AND t0."login" IS NOT NULL) AND t0."id" = ANY($2)

-- updateLog
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "public"."Sailor" AS t2 JOIN "public"."Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = $1 AND t2."login" IS NOT NULL))) AND t0."id" = ANY($2)

-- updateLog
SELECT t0."line" FROM "public"."Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 JOIN "public"."Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" = ANY($2) ORDER BY t0."line", t0."id"

-- updateLog: update rows of Log (sealed) where id in values
UPDATE "public"."Log" AS t0 SET "sealed" = $1 WHERE t0."id" = ANY($2)
