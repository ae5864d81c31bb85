-- permissions
-- boat
DELETE FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) AND t0."name" = ?2 RETURNING 1
