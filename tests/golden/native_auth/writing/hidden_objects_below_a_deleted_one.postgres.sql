-- native_auth
-- deleteHarbour
SELECT t0."id" FROM "public"."Harbour" AS t0 ORDER BY t0."id"

-- deleteHarbour
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."id" AS c1 FROM "public"."Harbour" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."name", t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL (SELECT 1::int2, t1."reg", t1."harbour_id" FROM "public"."Boat" AS t1 WHERE t1."harbour_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) AND (EXISTS (SELECT 1 FROM "public"."Crew" AS t2 JOIN "public"."Boat_crew" AS t3 ON t3."boat_id" = t1."id" WHERE t2."id" = t3."crew_id" AND (t2."login" = $2 AND t2."login" IS NOT NULL)) OR t1."open" = $3) ORDER BY t1."reg", t1."id")

-- deleteHarbour: clear harbour_id of Boat where harbour_id in values
UPDATE "public"."Boat" AS t0 SET "harbour_id" = NULL WHERE t0."harbour_id" = ANY($1)

-- deleteHarbour: delete rows of Harbour where id in values
DELETE FROM "public"."Harbour" AS t0 WHERE t0."id" = ANY($1)
