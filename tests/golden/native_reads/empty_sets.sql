-- native_reads
-- queryCountry
SELECT 1 FROM "Country" AS t0 ORDER BY t0."id" LIMIT ?1

-- aggregateCity
SELECT count(*) FROM "City" AS t0

-- queryAnimal
SELECT t0."type", t0."id" FROM "Animal" AS t0 ORDER BY t0."id" LIMIT ?1
