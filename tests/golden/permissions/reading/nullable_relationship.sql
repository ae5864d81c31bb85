-- permissions
-- boat
SELECT t0."id", t0."harbour_id" FROM "boat" AS t0 ORDER BY t0."id"

-- boat.harbour
SELECT t0."name" FROM "harbour" AS t0 WHERE t0."id" = ?1 AND t0."name" = ?2
