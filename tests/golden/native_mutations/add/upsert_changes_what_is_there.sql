-- native_mutations
-- addCity.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- addCity.city.lovers
SELECT t0."email" FROM "City_lovers" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."person_id" WHERE t1."city_id" = ?1 ORDER BY t1."person_id"

-- addCity.city
SELECT t0."name", t0."population", t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
