-- native_auth
-- queryBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL)) OR t0."open" = $2) ORDER BY t0."reg", t0."id" LIMIT $3 OFFSET $4
