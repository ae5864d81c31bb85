-- native_reads
-- aggregateCity
SELECT count(*), min(t0."name"), max(t0."name"), weir_sum(t0."population"), max(t0."population"), sum(t0."area") FROM "City" AS t0

-- none
SELECT count(*), max(t0."population") FROM "City" AS t0 WHERE t0."name" = ?1

-- queryCountry
SELECT t0."id" FROM "Country" AS t0 ORDER BY t0."id"

-- queryCountry.citiesAggregate
SELECT count(*), max(t0."population") FROM "City" AS t0 WHERE t0."country_id" = ?1

-- aggregateAnimal
SELECT count(*), sum(t0."legs") FROM "Animal_all" AS t0
