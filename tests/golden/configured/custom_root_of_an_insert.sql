-- shop
-- maker
INSERT INTO "maker" AS t0 ("name") VALUES (?1) RETURNING "maker"."name", "maker"."id"

-- thing
INSERT INTO "thing" AS t0 ("name", "maker_id") VALUES (?1, ?2) RETURNING 1

-- add_producer.products
SELECT t0."name" FROM "thing" AS t0 WHERE t0."maker_id" = ?1
