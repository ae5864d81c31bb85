-- native_mutations
-- addPerson.person.friends
SELECT t0."email" FROM "Person_friends" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."friends_id" WHERE t1."person_id" = ?1 ORDER BY t1."friends_id"

-- addPerson.person
SELECT t0."email", t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
