-- shop
-- thing
UPDATE "thing" AS t0 SET "price" = ?1 RETURNING 1

-- thing
DELETE FROM "thing" AS t0 RETURNING 1
