-- shop
-- flag
SELECT t0."name" FROM "thing" AS t0 WHERE weir_iregex(?1, t0."name")
