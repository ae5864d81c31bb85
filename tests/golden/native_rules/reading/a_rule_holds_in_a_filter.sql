-- native_rules
-- queryFleet
SELECT t0."name" FROM "Fleet" AS t0 WHERE EXISTS (SELECT 1 FROM "Boat" AS t1 WHERE t1."fleet_id" = t0."id" AND EXISTS (SELECT 1 FROM "Fleet" AS t2 WHERE t2."id" = t1."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t3 JOIN "Fleet_members" AS t4 ON t4."fleet_id" = t2."id" WHERE t3."id" = t4."sailor_id" AND (t3."login" = ?1 AND t3."login" IS NOT NULL))) AND t1."tons" >= ?2) ORDER BY t0."id"

-- none
SELECT t0."name" FROM "Fleet" AS t0 WHERE (EXISTS (SELECT 1 FROM "Boat" AS t1 WHERE t1."fleet_id" = t0."id" AND EXISTS (SELECT 1 FROM "Fleet" AS t2 WHERE t2."id" = t1."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t3 JOIN "Fleet_members" AS t4 ON t4."fleet_id" = t2."id" WHERE t3."id" = t4."sailor_id" AND (t3."login" = ?1 AND t3."login" IS NOT NULL))) AND t1."tons" >= ?2)) IS NOT TRUE ORDER BY t0."id"
