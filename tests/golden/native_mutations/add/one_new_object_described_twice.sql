-- native_mutations
-- addPerson.person.loves.country
SELECT t0."name" FROM "Country" AS t0 WHERE t0."id" = ?1

-- addPerson.person.loves
SELECT t0."name", t0."country_id" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- addPerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
