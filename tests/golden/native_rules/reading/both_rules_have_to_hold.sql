-- native_rules
-- queryLog
SELECT t0."line", t0."boat_id" FROM "Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "Sailor" AS t1 JOIN "Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL))) IS NOT TRUE ORDER BY t0."line", t0."id"

-- queryLog.boat
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?2 AND t2."login" IS NOT NULL)))

-- aggregateLog
SELECT count(*) FROM "Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "Sailor" AS t1 JOIN "Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL))) IS NOT TRUE
