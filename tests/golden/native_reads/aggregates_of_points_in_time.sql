-- native_reads
-- aggregateCity
SELECT substr(min(CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded"), 20), substr(max(CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded"), 20), min(t0."area"), max(t0."area") FROM "City" AS t0

-- queryCountry
SELECT t0."id" FROM "Country" AS t0 ORDER BY t0."id"

-- queryCountry.citiesAggregate
SELECT substr(min(CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded"), 20), substr(max(CAST(t0."founded_at" + 2000000000000000000 AS text) || t0."founded"), 20) FROM "City" AS t0 WHERE t0."country_id" = ?1
