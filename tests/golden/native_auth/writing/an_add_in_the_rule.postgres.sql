-- native_auth
-- addBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3)

-- addBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- addBoat
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- addBoat
SELECT t0."id" FROM "public"."Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Crew" AS t1 WHERE t1."id" = t0."master_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) AND t0."id" = ANY($2)

-- addBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) AND t0."id" = ANY($3) ORDER BY t0."id"

-- addBoat: find id of Boat where reg = value
SELECT t0."id" FROM "public"."Boat" AS t0 WHERE t0."reg" = $1

-- addBoat: find id of Crew where login = value
SELECT t0."id" FROM "public"."Crew" AS t0 WHERE t0."login" = $1

-- addBoat: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addBoat: insert a row of Boat (id, reg, tons, berth, open, harbour_id)
INSERT INTO "public"."Boat" AS t0 ("id", "reg", "tons", "berth", "open", "harbour_id") VALUES ($1, $2, $3, $4, $5, $6)

-- addBoat: insert a row of Crew (id, login)
INSERT INTO "public"."Crew" AS t0 ("id", "login") VALUES ($1, $2)

-- addBoat: insert a row of Boat_crew (boat_id, crew_id) unless it is there
INSERT INTO "public"."Boat_crew" AS t0 ("boat_id", "crew_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
