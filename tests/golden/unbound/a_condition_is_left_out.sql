-- unbound
-- author
SELECT t0."id" FROM "author" AS t0 WHERE NOT ((1 = 1))

-- all
SELECT t0."id" FROM "author" AS t0 ORDER BY t0."id" DESC
