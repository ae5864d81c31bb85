-- native_rules
-- deleteLog
SELECT t0."id" FROM "public"."Log" AS t0 WHERE (t0."sealed" = $1) IS NOT TRUE ORDER BY t0."id"

-- deleteLog
SELECT t0."line" FROM "public"."Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 JOIN "public"."Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL))) IS NOT TRUE AND t0."id" = ANY($2) ORDER BY t0."line", t0."id"

-- deleteLog: delete rows of Log_keptFrom where log_id in values
DELETE FROM "public"."Log_keptFrom" AS t0 WHERE t0."log_id" = ANY($1)

-- deleteLog: delete rows of Log where id in values
DELETE FROM "public"."Log" AS t0 WHERE t0."id" = ANY($1)
