-- native_mutations
-- deleteCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- deleteCity: delete rows of City_lovers where city_id in values
DELETE FROM "City_lovers" AS t0 WHERE t0."city_id" IN (SELECT value FROM json_each(?1))

-- deleteCity: delete rows of Person_likes where thing_id in values
DELETE FROM "Person_likes" AS t0 WHERE t0."thing_id" IN (SELECT value FROM json_each(?1))

-- deleteCity: delete rows of City_tags where id in values
DELETE FROM "City_tags" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteCity: delete rows of City where id in values
DELETE FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteCity: delete rows of Thing where id in values
DELETE FROM "Thing" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- deleteCity.city
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
