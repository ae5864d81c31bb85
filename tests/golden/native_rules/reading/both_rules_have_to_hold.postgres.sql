-- native_rules
-- aggregateLog
SELECT count(*) FROM "public"."Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 JOIN "public"."Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL))) IS NOT TRUE

-- queryLog
SELECT t0."line", t0."boat_id" FROM "public"."Log" AS t0 WHERE (EXISTS (SELECT 1 FROM "public"."Sailor" AS t1 JOIN "public"."Log_keptFrom" AS t2 ON t2."log_id" = t0."id" WHERE t1."id" = t2."sailor_id" AND (t1."login" = $1 AND t1."login" IS NOT NULL))) IS NOT TRUE ORDER BY t0."line", t0."id"

-- queryLog.boat
SELECT 0::int2, t0."reg", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Boat" AS t0 ON t0."id" = p.k0 AND EXISTS (SELECT 1 FROM "public"."Fleet" AS t1 WHERE t1."id" = t0."fleet_id" AND EXISTS (SELECT 1 FROM "public"."Sailor" AS t2 JOIN "public"."Fleet_members" AS t3 ON t3."fleet_id" = t1."id" WHERE t2."id" = t3."sailor_id" AND (t2."login" = $2 AND t2."login" IS NOT NULL)))
