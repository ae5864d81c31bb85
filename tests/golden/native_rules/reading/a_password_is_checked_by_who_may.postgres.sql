-- native_rules
-- right: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- wrong: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- none: find id, pin of Sailor where login = value
SELECT t0."id", t0."pin" FROM "public"."Sailor" AS t0 WHERE t0."login" = $1

-- right, wrong, none, getSailor
SELECT 0::int2, t0."login", t0."name" FROM "public"."Sailor" AS t0 WHERE t0."id" = $1 UNION ALL SELECT 1::int2, t1."login", NULL FROM "public"."Sailor" AS t1 WHERE t1."id" = $2 UNION ALL SELECT 2::int2, t2."login", NULL FROM "public"."Sailor" AS t2 WHERE t2."id" = $3 UNION ALL SELECT 3::int2, t3."login", NULL FROM "public"."Sailor" AS t3 WHERE (1 = 0) AND t3."login" = $4
