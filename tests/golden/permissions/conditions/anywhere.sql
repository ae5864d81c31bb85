-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE EXISTS (SELECT 1 FROM "member" AS t1 WHERE (t1."login" = ?1 AND t1."login" IS NOT NULL)) ORDER BY t0."id"
