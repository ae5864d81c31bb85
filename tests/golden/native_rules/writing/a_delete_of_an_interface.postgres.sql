-- native_rules
-- deleteDocument
SELECT t0."id" FROM "public"."Document_all" AS t0 WHERE t0."tenant" = $1 ORDER BY t0."id"

-- deleteDocument
WITH l0 AS MATERIALIZED (SELECT t0."type" AS c0, t0."id" AS c1 FROM "public"."Document_all" AS t0 WHERE ((t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "public"."Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "public"."Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = $1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "public"."Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "public"."Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) OR (t0."type" IN ('Letter') AND (EXISTS (SELECT 1 FROM "public"."Letter" AS t5 WHERE t5."id" = t0."id" AND (EXISTS (SELECT 1 FROM "public"."Document_all" AS t6 WHERE t6."id" = t5."id" AND (t6."tenant" = $1 AND ((t6."type" IN ('Chart') AND (EXISTS (SELECT 1 FROM "public"."Chart" AS t7 WHERE t7."id" = t6."id" AND t7."title" IS NOT NULL) OR (1 = 0))) OR (t6."type" IN ('Letter') AND (EXISTS (SELECT 1 FROM "public"."Letter" AS t8 WHERE t8."id" = t6."id" AND t8."title" IS NOT NULL) OR (1 = 0)))))) OR (1 = 0))) OR (1 = 0)))) AND t0."id" = ANY($2) ORDER BY t0."title", t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t9."title", t9."id" FROM "public"."Chart" AS t9 WHERE t9."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) AND (EXISTS (SELECT 1 FROM "public"."Document_all" AS t10 WHERE t10."id" = t9."id" AND (t10."tenant" = $1 AND ((t10."type" IN ('Chart') AND (EXISTS (SELECT 1 FROM "public"."Chart" AS t11 WHERE t11."id" = t10."id" AND t11."title" IS NOT NULL) OR (1 = 0))) OR (t10."type" IN ('Letter') AND (EXISTS (SELECT 1 FROM "public"."Letter" AS t12 WHERE t12."id" = t10."id" AND t12."title" IS NOT NULL) OR (1 = 0)))))) OR (1 = 0)) UNION ALL SELECT 2::int2, t13."title", t13."id" FROM "public"."Letter" AS t13 WHERE t13."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) AND (EXISTS (SELECT 1 FROM "public"."Document_all" AS t14 WHERE t14."id" = t13."id" AND (t14."tenant" = $1 AND ((t14."type" IN ('Chart') AND (EXISTS (SELECT 1 FROM "public"."Chart" AS t15 WHERE t15."id" = t14."id" AND t15."title" IS NOT NULL) OR (1 = 0))) OR (t14."type" IN ('Letter') AND (EXISTS (SELECT 1 FROM "public"."Letter" AS t16 WHERE t16."id" = t14."id" AND t16."title" IS NOT NULL) OR (1 = 0)))))) OR (1 = 0))

-- deleteDocument: find id, type of Document where id in values
SELECT t0."id", t0."type" FROM "public"."Document" AS t0 WHERE t0."id" = ANY($1)

-- deleteDocument: delete rows of Chart where id in values
DELETE FROM "public"."Chart" AS t0 WHERE t0."id" = ANY($1)

-- deleteDocument: delete rows of Document where id in values
DELETE FROM "public"."Document" AS t0 WHERE t0."id" = ANY($1)

-- deleteDocument: delete rows of Letter where id in values
DELETE FROM "public"."Letter" AS t0 WHERE t0."id" = ANY($1)
