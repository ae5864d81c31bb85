-- native_mutations
-- a
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- a: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- a: delete rows of City_tags where id in values and value = value
DELETE FROM "City_tags" AS t0 WHERE (t0."id" IN (SELECT value FROM json_each(?1)) AND t0."value" = ?2)

-- a.city
SELECT t0."population", t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- a.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- b
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- b: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- b.city
SELECT t0."population", t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- b.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"
