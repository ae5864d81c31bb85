-- permissions
-- boat
SELECT t0."id" FROM "boat" AS t0 WHERE EXISTS (SELECT 1 FROM "crew" AS t1 WHERE t1."boat_id" = t0."id" AND t1."name" = t0."owner") ORDER BY t0."id"
