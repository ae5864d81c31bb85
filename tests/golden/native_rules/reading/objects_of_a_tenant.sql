-- native_rules
-- queryDocument
SELECT t0."type", t0."id" FROM "Document_all" AS t0 WHERE ((t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = ?1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) OR (t0."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t5 WHERE t5."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t6 WHERE t6."id" = t5."id" AND (t6."tenant" = ?1 AND ((t6."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t7 WHERE t7."id" = t6."id" AND t7."title" IS NOT NULL)) OR (t6."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t8 WHERE t8."id" = t6."id" AND t8."title" IS NOT NULL)))))))) ORDER BY t0."title", t0."id"

-- queryDocument
SELECT t0."title", t0."receiver" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- queryDocument
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- queryLetter
SELECT t0."title" FROM "Letter" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) ORDER BY t0."id"

-- queryChart
SELECT t0."title" FROM "Chart" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) ORDER BY t0."id"

-- aggregateDocument
SELECT count(*) FROM "Document_all" AS t0 WHERE ((t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = ?1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) OR (t0."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t5 WHERE t5."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t6 WHERE t6."id" = t5."id" AND (t6."tenant" = ?1 AND ((t6."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t7 WHERE t7."id" = t6."id" AND t7."title" IS NOT NULL)) OR (t6."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t8 WHERE t8."id" = t6."id" AND t8."title" IS NOT NULL))))))))

-- own
SELECT t0."type", t0."id" FROM "Document" AS t0 WHERE ((t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = ?1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) OR (t0."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t5 WHERE t5."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t6 WHERE t6."id" = t5."id" AND (t6."tenant" = ?1 AND ((t6."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t7 WHERE t7."id" = t6."id" AND t7."title" IS NOT NULL)) OR (t6."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t8 WHERE t8."id" = t6."id" AND t8."title" IS NOT NULL)))))))) AND t0."title" = ?2

-- own
SELECT t0."title" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- own
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- other
SELECT t0."type", t0."id" FROM "Document" AS t0 WHERE ((t0."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t1 WHERE t1."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t2 WHERE t2."id" = t1."id" AND (t2."tenant" = ?1 AND ((t2."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t3 WHERE t3."id" = t2."id" AND t3."title" IS NOT NULL)) OR (t2."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t4 WHERE t4."id" = t2."id" AND t4."title" IS NOT NULL))))))) OR (t0."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t5 WHERE t5."id" = t0."id" AND EXISTS (SELECT 1 FROM "Document_all" AS t6 WHERE t6."id" = t5."id" AND (t6."tenant" = ?1 AND ((t6."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t7 WHERE t7."id" = t6."id" AND t7."title" IS NOT NULL)) OR (t6."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t8 WHERE t8."id" = t6."id" AND t8."title" IS NOT NULL)))))))) AND t0."title" = ?2

-- other
SELECT t0."title" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))

-- other
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?2 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL)))))
