-- permissions
-- boat_by_pk
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) AND t0."id" = ?2

-- mine
SELECT t0."id" FROM "boat" AS t0 WHERE (t0."owner" = ?1 AND t0."owner" IS NOT NULL) AND t0."id" = ?2
