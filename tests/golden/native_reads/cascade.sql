-- native_reads
-- queryCity
SELECT t0."name", t0."population", t0."id" FROM "City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL AND EXISTS (SELECT 1 FROM "City_tags" AS t1 WHERE t1."id" = t0."id")) ORDER BY t0."id"

-- queryCity.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- countries
SELECT t0."code", t0."id" FROM "Country" AS t0 WHERE (t0."code" IS NOT NULL AND EXISTS (SELECT 1 FROM "City" AS t1 WHERE t1."country_id" = t0."id" AND (t1."name" IS NOT NULL AND t1."population" IS NOT NULL))) ORDER BY t0."id"

-- countries.cities
SELECT t0."name", t0."population" FROM "City" AS t0 WHERE t0."country_id" = ?1 AND (t0."name" IS NOT NULL AND t0."population" IS NOT NULL) ORDER BY t0."id"

-- named
SELECT t0."name", t0."area" FROM "City" AS t0 WHERE t0."area" IS NOT NULL ORDER BY t0."id"

-- all
SELECT t0."name" FROM "City" AS t0 ORDER BY t0."id"

-- page
SELECT t0."name", t0."country_id" FROM "City" AS t0 WHERE (t0."name" IS NOT NULL AND EXISTS (SELECT 1 FROM "Country" AS t1 WHERE t1."id" = t0."country_id" AND t1."code" IS NOT NULL)) ORDER BY t0."id" LIMIT ?1 OFFSET ?2

-- page.country
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1 AND t0."code" IS NOT NULL
