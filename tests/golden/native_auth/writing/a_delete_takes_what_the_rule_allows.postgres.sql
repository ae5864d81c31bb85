-- native_auth
-- deleteBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- deleteBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3) ORDER BY t0."id"

-- deleteBoat: clear boat_id of Log where boat_id in values
UPDATE "public"."Log" AS t0 SET "boat_id" = NULL WHERE t0."boat_id" = ANY($1)

-- deleteBoat: delete rows of Boat_crew where boat_id in values
DELETE FROM "public"."Boat_crew" AS t0 WHERE t0."boat_id" = ANY($1)

-- deleteBoat: delete rows of Boat where id in values
DELETE FROM "public"."Boat" AS t0 WHERE t0."id" = ANY($1)
