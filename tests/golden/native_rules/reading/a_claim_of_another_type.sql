-- native_rules
-- queryDocument
SELECT t0."type", t0."id" FROM "Document" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- queryDocument
SELECT t0."title" FROM "Letter" AS t0 WHERE t0."id" = ?1 AND (1 = 0)

-- queryDocument
SELECT t0."title" FROM "Chart" AS t0 WHERE t0."id" = ?1 AND (1 = 0)
