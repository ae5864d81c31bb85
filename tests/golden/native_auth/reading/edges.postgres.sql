-- native_auth
-- queryHarbour
SELECT t0."name", t0."id" FROM "public"."Harbour" AS t0 ORDER BY t0."name", t0."id"

-- queryHarbour.boats, queryHarbour.boatsAggregate
WITH l0 AS MATERIALIZED (SELECT t0."reg" AS c0, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Boat" AS t0 ON t0."harbour_id" = p.k0 AND (EXISTS (SELECT 1 FROM "public"."Crew" AS t1 JOIN "public"."Boat_crew" AS t2 ON t2."boat_id" = t0."id" WHERE t1."id" = t2."crew_id" AND (t1."login" = $2 AND t1."login" IS NOT NULL)) OR t0."open" = $3) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.k0, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, NULL, p.n, count(t3."harbour_id") FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."Boat" AS t3 ON t3."harbour_id" = p.k0 AND (EXISTS (SELECT 1 FROM "public"."Crew" AS t4 JOIN "public"."Boat_crew" AS t5 ON t5."boat_id" = t3."id" WHERE t4."id" = t5."crew_id" AND (t4."login" = $2 AND t4."login" IS NOT NULL)) OR t3."open" = $3) GROUP BY p.n
