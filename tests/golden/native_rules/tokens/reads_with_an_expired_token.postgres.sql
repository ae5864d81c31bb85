-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- getBoat, aggregateBoat, checkSailorPassword
SELECT 0::int2, t0."reg", NULL::int8 FROM "public"."Boat" AS t0 WHERE (1 = 0) AND t0."reg" = $1 UNION ALL SELECT 1::int2, NULL, t1."id" FROM "public"."Boat" AS t1 WHERE (1 = 0) UNION ALL SELECT 2::int2, t2."login", NULL FROM "public"."Sailor" AS t2 WHERE (1 = 0) AND t2."id" = $2

-- queryBoat
SELECT t0."reg" FROM "public"."Boat" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- queryFleet
SELECT t0."name" FROM "public"."Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"
