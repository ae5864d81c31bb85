-- native_auth
-- queryBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 ORDER BY t0."reg", t0."id"

-- queryLog
SELECT t0."line", t0."boat_id" FROM "public"."Log" AS t0 ORDER BY t0."line", t0."id"

-- queryLog.boat
SELECT 0::int2, t0."reg", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Boat" AS t0 ON t0."id" = p.k0
