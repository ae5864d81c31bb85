-- native_mutations
-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- addPerson: reserve numbers of objects
SELECT next_id FROM weir_store

-- addPerson: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- addPerson: update rows of Person (spouse_id) where id = value
UPDATE "Person" AS t0 SET "spouse_id" = ?1 WHERE t0."id" = ?2

-- addPerson: insert a row of Person_friends (person_id, friends_id) unless it is there
INSERT INTO "Person_friends" AS t0 ("person_id", "friends_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- addPerson: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = ?1 AND t0."id" <> ?2)

-- addPerson.person
SELECT t0."id", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- addPerson.person.friends
SELECT t0."email", t0."id" FROM "Person_friends" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."friends_id" WHERE t1."person_id" = ?1 ORDER BY t1."friends_id"

-- addPerson.person.friends.friends
SELECT t0."email" FROM "Person_friends" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."friends_id" WHERE t1."person_id" = ?1 ORDER BY t1."friends_id"

-- addPerson.person.spouse
SELECT t0."email", t0."spouse_id" FROM "Person" AS t0 WHERE t0."id" = ?1

-- addPerson.person.spouse.spouse
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1
