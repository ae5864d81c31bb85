-- permissions
-- crew
SELECT t0."name", t0."boat_id" FROM "crew" AS t0 ORDER BY t0."id"

-- crew.boat
SELECT t0."name" FROM "boat" AS t0 WHERE t0."id" = ?1 AND (t0."owner" = ?2 AND t0."owner" IS NOT NULL)
