-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 ORDER BY t0."id"
