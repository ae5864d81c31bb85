-- native_auth
-- deleteHarbour
SELECT t0."id" FROM "Harbour" AS t0 ORDER BY t0."id"

-- deleteHarbour: clear harbour_id of Boat where harbour_id in values
UPDATE "Boat" AS t0 SET "harbour_id" = NULL WHERE t0."harbour_id" IN (SELECT value FROM json_each(?1))

-- deleteHarbour: delete rows of Harbour where id in values
DELETE FROM "Harbour" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteHarbour.harbour
SELECT t0."name", t0."id" FROM "Harbour" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."name", t0."id"

-- deleteHarbour.harbour.boats
SELECT t0."reg" FROM "Boat" AS t0 WHERE t0."harbour_id" = ?1 AND (EXISTS (SELECT 1 FROM "Crew" AS t1 JOIN "Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = ?2 AND t1."login" IS NOT NULL)) OR t0."open" = ?3) ORDER BY t0."reg", t0."id"
