-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1

-- more
SELECT t0."id" FROM "boat" AS t0 ORDER BY t0."id" LIMIT ?1

-- less
SELECT t0."id" FROM "boat" AS t0 LIMIT ?1
