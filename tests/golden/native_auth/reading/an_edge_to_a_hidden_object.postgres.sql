-- native_auth
-- queryHarbour
SELECT t0."name" FROM "public"."Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Boat" AS t1 WHERE t1."harbour_id" = t0."id" AND (EXISTS (SELECT 1 FROM "public"."Crew" AS t2 JOIN "public"."Boat_crew" AS t3 ON t3."boat_id" = t1."id" WHERE t2."id" = t3."crew_id" AND (t2."login" = $1 AND t2."login" IS NOT NULL)) OR t1."open" = $2) AND t1."tons" = $3) ORDER BY t0."id"

-- other
SELECT t0."name" FROM "public"."Harbour" AS t0 WHERE EXISTS (SELECT 1 FROM "public"."Boat" AS t1 WHERE t1."harbour_id" = t0."id" AND (EXISTS (SELECT 1 FROM "public"."Crew" AS t2 JOIN "public"."Boat_crew" AS t3 ON t3."boat_id" = t1."id" WHERE t2."id" = t3."crew_id" AND (t2."login" = $1 AND t2."login" IS NOT NULL)) OR t1."open" = $2) AND t1."tons" = $3) ORDER BY t0."id"
