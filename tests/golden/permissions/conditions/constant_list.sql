-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE t0."owner" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
