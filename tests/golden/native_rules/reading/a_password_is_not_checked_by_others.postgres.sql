-- native_rules
-- checkSailorPassword: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- checkSailorPassword, getSailor
SELECT 0::int2, t0."login", NULL::text FROM "public"."Sailor" AS t0 WHERE (1 = 0) AND t0."id" = $1 UNION ALL SELECT 1::int2, t1."login", t1."name" FROM "public"."Sailor" AS t1 WHERE (t1."login" = $2 AND t1."login" IS NOT NULL) AND t1."login" = $3
