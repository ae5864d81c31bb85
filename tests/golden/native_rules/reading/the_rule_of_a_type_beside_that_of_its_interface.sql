-- native_rules
-- queryDocument
SELECT t0."type", t0."id" FROM "Document" AS t0 WHERE (t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = ?1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) ORDER BY t0."id"

-- queryDocument
SELECT t0."title" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND (1 = 0)

-- queryDocument
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- queryLetter
SELECT t0."title" FROM "Letter" AS t0 WHERE (1 = 0) ORDER BY t0."id"
