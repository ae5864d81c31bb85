-- shop
-- thing
SELECT t0."name" FROM "thing" AS t0 WHERE weir_regex(?1, t0."name")
