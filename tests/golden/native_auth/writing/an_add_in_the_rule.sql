-- native_auth
-- addBoat: find id of Boat where reg = value
SELECT t0."id" FROM "Boat" AS t0 WHERE t0."reg" = ?1

-- addBoat: find id of Crew where login = value
SELECT t0."id" FROM "Crew" AS t0 WHERE t0."login" = ?1

-- addBoat: reserve numbers of objects
SELECT next_id FROM weir_store

-- addBoat: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addBoat: insert a row of Boat (id, reg, tons, berth, open, harbour_id)
INSERT INTO "Boat" AS t0 ("id", "reg", "tons", "berth", "open", "harbour_id") VALUES (?1, ?2, ?3, ?4, ?5, ?6)

-- addBoat: insert a row of Crew (id, login)
INSERT INTO "Crew" AS t0 ("id", "login") VALUES (?1, ?2)

-- addBoat: insert a row of Boat_crew (boat_id, crew_id) unless it is there
INSERT INTO "Boat_crew" AS t0 ("boat_id", "crew_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- addBoat.boat
SELECT t0."reg" FROM "Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) OR t0."open" = ?2) AND t0."id" IN (SELECT value FROM json_each(?3)) ORDER BY t0."id"

-- addBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) OR t0."open" = ?2) AND t0."id" IN (SELECT value FROM json_each(?3))

-- addBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addBoat
SELECT t0."id" FROM "Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addBoat
SELECT t0."id" FROM "Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "Crew" AS t1 WHERE t1."id" = t0."master_id" AND (t1."login" = ?1 AND t1."login" IS NOT NULL)) AND t0."id" IN (SELECT value FROM json_each(?2))
