-- shop
-- thing
SELECT t0."name", t0."color" FROM "thing" AS t0 WHERE t0."color" = ?1
