-- native_rules
-- queryFleet
SELECT t0."name" FROM "Fleet" AS t0 WHERE (1 = 0) ORDER BY t0."id"

-- aggregateFleet
SELECT t0."id" FROM "Fleet" AS t0 WHERE (1 = 0)

-- getFleet
SELECT t0."name" FROM "Fleet" AS t0 WHERE (1 = 0) AND t0."name" = ?1
