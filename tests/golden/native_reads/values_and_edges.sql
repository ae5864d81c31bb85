-- native_reads
-- queryCity
SELECT t0."name", t0."country_id", t0."population", t0."area", t0."founded", t0."id", t0."done", t0."mood", t0."at_longitude", t0."at_latitude" FROM "City" AS t0 ORDER BY t0."id"

-- queryCity.country
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE t0."id" = ?1

-- queryCity.country.cities
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id"

-- queryCity.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"
