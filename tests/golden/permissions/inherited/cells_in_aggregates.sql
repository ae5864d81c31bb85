-- permissions
-- boat_aggregate.aggregate
SELECT count(*), max(CASE WHEN t0."price" < ?1 THEN t0."price" END), count(CASE WHEN (t0."owner" = ?2 AND t0."owner" IS NOT NULL) THEN t0."owner" END) FROM "boat" AS t0 WHERE (t0."price" < ?1 OR (t0."owner" = ?2 AND t0."owner" IS NOT NULL))
