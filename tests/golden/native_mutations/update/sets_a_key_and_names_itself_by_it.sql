-- native_mutations
-- updatePerson
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- updatePerson.person.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- updatePerson.person.friends
SELECT t0."email" FROM "Person_friends" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."friends_id" WHERE t1."person_id" = ?1 ORDER BY t1."friends_id"

-- updatePerson.person
SELECT t0."nick", t0."spouse_id", t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
