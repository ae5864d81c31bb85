-- native_mutations
-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- addPerson: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addPerson: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- addPerson: reserve numbers of objects
SELECT next_id FROM weir_store

-- addPerson: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- addPerson: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- addPerson: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- addPerson: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES (?1, ?2, ?3, ?4)

-- addPerson: insert a row of Person_likes (person_id, thing_id) unless it is there
INSERT INTO "Person_likes" AS t0 ("person_id", "thing_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- addPerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- addPerson.person.likes
SELECT t0."type", t0."id" FROM "Person_likes" AS t1 JOIN "Thing" AS t0 ON t0."id" = t1."thing_id" WHERE t1."person_id" = ?1 ORDER BY t1."thing_id"

-- addPerson.person.likes
SELECT t0."name" FROM "City" AS t0 WHERE t0."id" = ?1

-- addPerson.person.likes
SELECT t0."breed" FROM "Dog" AS t0 WHERE t0."id" = ?1
