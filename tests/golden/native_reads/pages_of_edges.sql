-- native_reads
-- queryCountry
SELECT t0."code", t0."id" FROM "Country" AS t0 ORDER BY t0."id"

-- queryCountry.first
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."name" DESC, t0."id" LIMIT ?2

-- queryCountry.last
SELECT t1."name" FROM (SELECT t0.* FROM "City" AS t0 WHERE t0."country_id" = ?1 ORDER BY t0."id" DESC LIMIT ?2) AS t1 ORDER BY t1."id"

-- queryCountry.large
SELECT t0."name" FROM "City" AS t0 WHERE t0."country_id" = ?1 AND t0."population" > ?2 ORDER BY t0."id"
