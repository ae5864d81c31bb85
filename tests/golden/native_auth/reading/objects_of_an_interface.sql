-- native_auth
-- queryVessel
SELECT t0."type", t0."id" FROM "Vessel" AS t0 WHERE (t0."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "Ship" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Vessel_all" AS t2 WHERE t2."id" = t1."id" AND (t2."owner" = ?1 AND ((t2."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "Ship" AS t3 WHERE t3."id" = t2."id" AND t3."name" IS NOT NULL)) OR (t2."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "Raft" AS t4 WHERE t4."id" = t2."id" AND t4."name" IS NOT NULL))))))) ORDER BY t0."id"

-- queryVessel
SELECT t0."name", t0."logs" FROM "Raft" AS t0 WHERE t0."id" = ?1 AND (1 = 0)

-- queryVessel
SELECT t0."name" FROM "Ship" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Vessel_all" AS t1 WHERE t1."id" = t0."id" AND (t1."owner" = ?2 AND ((t1."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "Ship" AS t2 WHERE t2."id" = t1."id" AND t2."name" IS NOT NULL)) OR (t1."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "Raft" AS t3 WHERE t3."id" = t1."id" AND t3."name" IS NOT NULL)))))

-- queryShip
SELECT t0."name" FROM "Ship" AS t0 WHERE EXISTS (SELECT 1 FROM "Vessel_all" AS t1 WHERE t1."id" = t0."id" AND (t1."owner" = ?1 AND ((t1."type" IN ('Ship') AND EXISTS (SELECT 1 FROM "Ship" AS t2 WHERE t2."id" = t1."id" AND t2."name" IS NOT NULL)) OR (t1."type" IN ('Raft') AND EXISTS (SELECT 1 FROM "Raft" AS t3 WHERE t3."id" = t1."id" AND t3."name" IS NOT NULL))))) ORDER BY t0."id"

-- queryRaft
SELECT t0."name" FROM "Raft" AS t0 WHERE (1 = 0) ORDER BY t0."id"
