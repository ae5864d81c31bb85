-- native_mutations
-- a
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- b
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- a: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- a: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- a: insert a row of Person_likes (person_id, thing_id) unless it is there
INSERT INTO "Person_likes" AS t0 ("person_id", "thing_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- b: delete rows of City_lovers where city_id in values
DELETE FROM "City_lovers" AS t0 WHERE t0."city_id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Person_likes where thing_id in values
DELETE FROM "Person_likes" AS t0 WHERE t0."thing_id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of City_tags where id in values
DELETE FROM "City_tags" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of City where id in values
DELETE FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Thing where id in values
DELETE FROM "Thing" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
