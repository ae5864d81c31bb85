-- native_mutations
-- addCity.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- addCity.city
SELECT t0."population", t0."founded", t0."id", t0."at_longitude", t0."at_latitude" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
