-- native_mutations
-- addPerson.person.likes
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" = ?1

-- addPerson.person.likes
SELECT t0."breed" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- addPerson.person.likes
SELECT t0."type", t0."id" FROM "Person_likes" AS t1 JOIN "Thing" AS t0 ON t0."id" = t1."thing_id" WHERE t1."person_id" = ?1 ORDER BY t1."thing_id"

-- addPerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
