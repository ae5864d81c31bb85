-- native_mutations
-- updatePerson
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- updatePerson.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- updatePerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- again
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- again.person.loves
SELECT t0."name" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- again.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
