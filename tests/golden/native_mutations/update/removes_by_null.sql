-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity: update rows of City (capitalOf_id) where id in values
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updateCity: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updateCity: delete rows of City_tags where id in values
DELETE FROM "City_tags" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- updateCity.city
SELECT t0."population", t0."id", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCity.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- updateCity.city.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1
