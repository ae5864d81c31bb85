-- native_reads
-- getCountry
SELECT t0."name" FROM "Country" AS t0 WHERE t0."code" = ?1

-- other
SELECT t0."name" FROM "Country" AS t0 WHERE (t0."id" = ?1 AND t0."code" = ?2)

-- none
SELECT t0."name" FROM "Country" AS t0 WHERE (1 = 0)

-- animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- animal
SELECT t0."name" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- animal
SELECT t0."name", t0."breed" FROM "Dog" AS t0 WHERE t0."id" = ?1
