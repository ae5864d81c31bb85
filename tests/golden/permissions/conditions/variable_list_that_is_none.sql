-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
