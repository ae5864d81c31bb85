-- native_rules
-- addChart: find id, type of Document where title = value
SELECT t0."id", t0."type" FROM "Document" AS t0 WHERE t0."title" = ?1

-- addChart: reserve numbers of objects
SELECT next_id FROM weir_store

-- addChart: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addChart: insert a row of Document (id, type, title)
INSERT INTO "Document" AS t0 ("id", "type", "title") VALUES (?1, ?2, ?3)

-- addChart: insert a row of Chart (id, title, tenant, scale)
INSERT INTO "Chart" AS t0 ("id", "title", "tenant", "scale") VALUES (?1, ?2, ?3, ?4)

-- addChart.chart
SELECT t0."title" FROM "Chart" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) AND t0."id" IN (SELECT value FROM json_each(?2)) ORDER BY t0."id"

-- addChart
SELECT t0."id" FROM "Chart" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addChart
SELECT t0."id" FROM "Chart" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) AND t0."id" IN (SELECT value FROM json_each(?2))

-- addChart
SELECT t0."id" FROM "Chart" AS t0 WHERE EXISTS (SELECT 1 FROM "Document_all" AS t1 WHERE t1."id" = t0."id" AND (t1."tenant" = ?1 AND ((t1."type" IN ('Chart') AND EXISTS (SELECT 1 FROM "Chart" AS t2 WHERE t2."id" = t1."id" AND t2."title" IS NOT NULL)) OR (t1."type" IN ('Letter') AND EXISTS (SELECT 1 FROM "Letter" AS t3 WHERE t3."id" = t1."id" AND t3."title" IS NOT NULL))))) AND t0."id" IN (SELECT value FROM json_each(?2))
