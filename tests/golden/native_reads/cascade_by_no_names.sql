-- native_reads
-- queryCity
SELECT t0."name", t0."population", t0."id" FROM "City" AS t0 WHERE (t0."name" IS NOT NULL AND t0."population" IS NOT NULL AND EXISTS (SELECT 1 FROM "City_tags" AS t1 WHERE t1."id" = t0."id")) ORDER BY t0."id"

-- queryCity.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"
