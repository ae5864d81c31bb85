-- native_mutations
-- b
SELECT t0."id" FROM "public"."Animal_all" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- b
WITH l0 AS MATERIALIZED (SELECT t0."type" AS c0, t0."id" AS c1 FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."name", t1."id" FROM "public"."Dog" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, t2."name", t2."id" FROM "public"."Cat" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))

-- c
SELECT t0."id" FROM "public"."Animal_all" AS t0 ORDER BY t0."id"

-- a: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- a: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- a: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- a: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- a: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- a: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- a: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "public"."Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES ($1, $2, $3, $4)

-- a: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "public"."Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES ($1, $2, $3, $4)

-- a: insert a row of Cat_chasedBy (dog_id, cat_id) unless it is there
INSERT INTO "public"."Cat_chasedBy" AS t0 ("dog_id", "cat_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- b: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of Cat_chasedBy where dog_id in values
DELETE FROM "public"."Cat_chasedBy" AS t0 WHERE t0."dog_id" = ANY($1)

-- b: delete rows of Person_likes where thing_id in values
DELETE FROM "public"."Person_likes" AS t0 WHERE t0."thing_id" = ANY($1)

-- b: delete rows of Dog where id in values
DELETE FROM "public"."Dog" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of Animal where id in values
DELETE FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of Thing where id in values
DELETE FROM "public"."Thing" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of Cat_chasedBy where cat_id in values
DELETE FROM "public"."Cat_chasedBy" AS t0 WHERE t0."cat_id" = ANY($1)

-- b: delete rows of Cat where id in values
DELETE FROM "public"."Cat" AS t0 WHERE t0."id" = ANY($1)

-- c: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- c: delete rows of Cat_chasedBy where dog_id in values
DELETE FROM "public"."Cat_chasedBy" AS t0 WHERE t0."dog_id" = ANY($1)

-- c: delete rows of Person_likes where thing_id in values
DELETE FROM "public"."Person_likes" AS t0 WHERE t0."thing_id" = ANY($1)

-- c: delete rows of Dog where id in values
DELETE FROM "public"."Dog" AS t0 WHERE t0."id" = ANY($1)

-- c: delete rows of Animal where id in values
DELETE FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- c: delete rows of Thing where id in values
DELETE FROM "public"."Thing" AS t0 WHERE t0."id" = ANY($1)

-- c: delete rows of Cat_chasedBy where cat_id in values
DELETE FROM "public"."Cat_chasedBy" AS t0 WHERE t0."cat_id" = ANY($1)

-- c: delete rows of Cat where id in values
DELETE FROM "public"."Cat" AS t0 WHERE t0."id" = ANY($1)
