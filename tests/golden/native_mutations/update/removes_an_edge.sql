-- native_mutations
-- updatePerson
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- updatePerson: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- updatePerson: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updatePerson: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("person_id", "city_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- updatePerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updatePerson.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- again
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- again: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- again: delete rows of City_lovers where person_id in values and city_id = value
DELETE FROM "City_lovers" AS t0 WHERE (t0."person_id" IN (SELECT value FROM json_each(?1)) AND t0."city_id" = ?2)

-- again.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- again.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"
