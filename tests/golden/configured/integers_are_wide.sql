-- shop
-- thing
SELECT t0."id", t0."stock" FROM "thing" AS t0
