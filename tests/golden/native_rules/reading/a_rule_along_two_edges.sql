-- native_rules
-- queryBoat
SELECT t0."reg" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL))) ORDER BY t0."reg", t0."id"

-- own
SELECT t0."reg" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL))) AND t0."reg" = ?2

-- other
SELECT t0."reg" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL))) AND t0."reg" = ?2

-- none
SELECT t0."reg" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL))) AND t0."reg" = ?2

-- aggregateBoat
SELECT count(*), max(t0."tons") FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL)))
