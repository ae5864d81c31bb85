-- native_rules
-- queryFleet
SELECT t0."name", t0."id" FROM "Fleet" AS t0 ORDER BY t0."name", t0."id"

-- queryFleet.boats
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."fleet_id" = ?1 AND EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?2 AND t2."login" IS NOT NULL))) ORDER BY t0."reg", t0."id"

-- queryFleet.boatsAggregate
SELECT count(*), sum(t0."tons") FROM "Boat" AS t0 WHERE t0."fleet_id" = ?1 AND EXISTS (SELECT 1 FROM "Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "Sailor" AS t2 JOIN "Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = ?2 AND t2."login" IS NOT NULL)))

-- queryFleet.members
SELECT t0."login" FROM "Fleet_members" AS t1 JOIN "Sailor" AS t0 ON t0."id" = t1."sailor_id" WHERE t1."fleet_id" = ?1 AND (t0."login" = ?2 AND t0."login" IS NOT NULL) ORDER BY t1."sailor_id"
