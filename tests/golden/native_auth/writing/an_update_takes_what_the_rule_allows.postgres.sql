-- native_auth
-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) ORDER BY t0."id"

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3)

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."id" FROM "public"."Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 WHERE t1."id" = t0."master_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."reg", t0."tons" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3) ORDER BY t0."id"

-- updateBoat: update rows of Boat (tons) where id in values
UPDATE "public"."Boat" AS t0 SET "tons" = $1 WHERE t0."id" = ANY($2)
