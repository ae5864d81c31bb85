-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) LIMIT ?2
