-- shop
-- producers
SELECT t0."name", t0."id", t0."country" FROM "maker" AS t0 ORDER BY t0."name" DESC

-- producers.products
SELECT t0."name" FROM "thing" AS t0 WHERE t0."maker_id" = ?1

-- producers.compatriots
SELECT t0."name" FROM "thing" AS t0 WHERE t0."country" = ?1

-- producers.products_aggregate.aggregate
SELECT count(*) FROM "thing" AS t0 WHERE t0."maker_id" = ?1

-- producer
SELECT t0."name" FROM "maker" AS t0 WHERE t0."id" = ?1

-- thing_by_pk
SELECT t0."maker_id" FROM "thing" AS t0 WHERE t0."id" = ?1

-- thing_by_pk.producer
SELECT t0."name" FROM "maker" AS t0 WHERE t0."id" = ?1
