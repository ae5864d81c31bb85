-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "City_tags" AS t0 ("id", "value") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- updateCity.city
SELECT t0."population", t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCity.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"
