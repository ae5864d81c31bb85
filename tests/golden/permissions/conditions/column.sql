-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE t0."owner" = t0."buyer" ORDER BY t0."id"
