-- native_reads
-- queryCity
SELECT t0."name", t0."country_id" FROM "City" AS t0 ORDER BY (SELECT t1."code" FROM "Country" AS t1 WHERE t1."id" = t0."country_id" LIMIT 1) DESC NULLS LAST, t0."name", t0."id"

-- queryCity.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1
