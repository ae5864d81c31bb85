-- native_rules
-- queryFleet
SELECT t0."name", t0."id" FROM "public"."Fleet" AS t0 WHERE (t0."name" IS NOT NULL AND EXISTS (SELECT 1 FROM "public"."Boat" AS t1 WHERE t1."fleet_id" = t0."id" AND EXISTS (SELECT 1 FROM "public"."Fleet" AS t2 WHERE t2."id" = t1."fleet_id" AND EXISTS (SELECT 1 FROM "public"."Sailor" AS t3 JOIN "public"."Fleet_members" AS t4 ON t4."fleet_id" = t2."id" WHERE t3."id" = t4."sailor_id" AND (t3."login" = $1 AND t3."login" IS NOT NULL))) AND t1."reg" IS NOT NULL)) ORDER BY t0."id"

-- queryFleet.boats
SELECT 0::int2, t0."reg", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Boat" AS t0 ON t0."fleet_id" = p.k0 AND EXISTS (SELECT 1 FROM "public"."Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "public"."Sailor" AS t2 JOIN "public"."Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = $2 AND t2."login" IS NOT NULL))) AND t0."reg" IS NOT NULL ORDER BY t0."id"
