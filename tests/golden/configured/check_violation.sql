-- shop
-- thing
UPDATE "thing" AS t0 SET "price" = ?1 WHERE t0."id" = ?2 RETURNING 1
