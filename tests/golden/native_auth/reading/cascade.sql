-- native_auth
-- queryHarbour
SELECT t0."name", t0."id" FROM "Harbour" AS t0 WHERE (t0."name" IS NOT NULL AND EXISTS (SELECT 1 FROM "Boat" AS t1 WHERE t1."harbour_id" = t0."id" AND (EXISTS (SELECT 1 FROM "Crew" AS t2 JOIN "Boat_crew" AS t3 ON t3."boat_id" = t1."id" WHERE t2."id" = t3."crew_id" AND (t2."login" = ?1 AND t2."login" IS NOT NULL)) OR t1."open" = ?2) AND t1."reg" IS NOT NULL)) ORDER BY t0."id"

-- queryHarbour.boats
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."harbour_id" = ?1 AND (EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?2 AND t1."login" IS NOT NULL)) OR t0."open" = ?3) AND t0."reg" IS NOT NULL ORDER BY t0."id"
