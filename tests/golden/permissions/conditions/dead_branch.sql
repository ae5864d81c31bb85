-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE ((1 = 1) OR (t0."owner" = ?1 AND t0."owner" IS NOT NULL)) ORDER BY t0."id"
