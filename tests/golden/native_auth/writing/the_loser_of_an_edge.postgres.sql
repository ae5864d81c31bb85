-- native_auth
-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."reg" = $2 ORDER BY t0."id"

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3)

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat
SELECT t0."id" FROM "public"."Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 WHERE t1."id" = t0."master_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- updateBoat: find id of Harbour where name = value
SELECT t0."id" FROM "public"."Harbour" AS t0 WHERE t0."name" = $1

-- updateBoat: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateBoat: insert a row of Harbour (id, name, master_id)
INSERT INTO "public"."Harbour" AS t0 ("id", "name", "master_id") VALUES ($1, $2, $3)

-- updateBoat: update rows of Boat (harbour_id) where id = value
UPDATE "public"."Boat" AS t0 SET "harbour_id" = $1 WHERE t0."id" = $2
