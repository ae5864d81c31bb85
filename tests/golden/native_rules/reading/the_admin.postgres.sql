-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- checkSailorPassword
SELECT t0."login" FROM "public"."Sailor" AS t0 WHERE t0."id" = $1

-- queryBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 ORDER BY t0."reg", t0."id"

-- queryLog
SELECT t0."line" FROM "public"."Log" AS t0 ORDER BY t0."line", t0."id"

-- queryDocument
SELECT t0."type", t0."id" FROM "public"."Document_all" AS t0 ORDER BY t0."title", t0."id"

-- queryDocument, queryDocument
SELECT 0::int2, t0."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Chart" AS t0 ON t0."id" = p.k0 UNION ALL SELECT 1::int2, t1."title", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Letter" AS t1 ON t1."id" = p.k0
