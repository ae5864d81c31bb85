-- native_mutations
-- b
SELECT t0."id" FROM "Animal_all" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- b: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Cat_chasedBy where dog_id in values
DELETE FROM "Cat_chasedBy" AS t0 WHERE t0."dog_id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Person_likes where thing_id in values
DELETE FROM "Person_likes" AS t0 WHERE t0."thing_id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Dog where id in values
DELETE FROM "Dog" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Animal where id in values
DELETE FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Thing where id in values
DELETE FROM "Thing" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Cat_chasedBy where cat_id in values
DELETE FROM "Cat_chasedBy" AS t0 WHERE t0."cat_id" IN (SELECT value FROM json_each(?1))

-- b: delete rows of Cat where id in values
DELETE FROM "Cat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- b.animal
SELECT t0."type", t0."id" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- b.animal
SELECT t0."name" FROM "Dog" AS t0 WHERE t0."id" = ?1

-- b.animal
SELECT t0."name" FROM "Cat" AS t0 WHERE t0."id" = ?1

-- c
SELECT t0."id" FROM "Animal_all" AS t0 ORDER BY t0."id"

-- a: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."name" = ?1

-- a: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- a: reserve numbers of objects
SELECT next_id FROM weir_store

-- a: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- a: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- a: insert a row of Animal (id, type, name)
INSERT INTO "Animal" AS t0 ("id", "type", "name") VALUES (?1, ?2, ?3)

-- a: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- a: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES (?1, ?2, ?3, ?4)

-- a: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES (?1, ?2, ?3, ?4)

-- a: insert a row of Cat_chasedBy (dog_id, cat_id) unless it is there
INSERT INTO "Cat_chasedBy" AS t0 ("dog_id", "cat_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- c: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Cat_chasedBy where dog_id in values
DELETE FROM "Cat_chasedBy" AS t0 WHERE t0."dog_id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Person_likes where thing_id in values
DELETE FROM "Person_likes" AS t0 WHERE t0."thing_id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Dog where id in values
DELETE FROM "Dog" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Animal where id in values
DELETE FROM "Animal" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Thing where id in values
DELETE FROM "Thing" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Cat_chasedBy where cat_id in values
DELETE FROM "Cat_chasedBy" AS t0 WHERE t0."cat_id" IN (SELECT value FROM json_each(?1))

-- c: delete rows of Cat where id in values
DELETE FROM "Cat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))
