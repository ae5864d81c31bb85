-- native_mutations
-- c
SELECT t0."id" FROM "public"."Animal_all" AS t0 ORDER BY t0."id"

-- c
WITH l0 AS MATERIALIZED (SELECT t0."type" AS c0, t0."id" AS c1 FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."keeper_id" AS c1, t1."id" AS k0 FROM "public"."Dog" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))), l3 AS MATERIALIZED (SELECT t3."name" AS c0, t3."keeper_id" AS c1, t3."id" AS k0 FROM "public"."Cat" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))) SELECT 0::int2, l0.c0, l0.c1, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c0, l1.c1, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t2."nick", t2."id", NULL FROM "public"."Person" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT DISTINCT l1.c1 FROM l1)) UNION ALL SELECT 3::int2, l3.c0, l3.c1, l3.k0 FROM l3 UNION ALL SELECT 4::int2, t4."nick", t4."id", NULL FROM "public"."Person" AS t4 WHERE t4."id" = ANY(ARRAY(SELECT DISTINCT l3.c1 FROM l3))

-- a: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- a: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- a: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- a: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- a: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "public"."Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES ($1, $2, $3, $4)

-- b: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- b: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- b: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- b: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "public"."Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES ($1, $2, $3, $4)

-- c: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- c: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- c: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- c: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- c: update rows of Dog (keeper_id) where id = value
UPDATE "public"."Dog" AS t0 SET "keeper_id" = $1 WHERE t0."id" = $2

-- c: update rows of Cat (keeper_id) where id = value
UPDATE "public"."Cat" AS t0 SET "keeper_id" = $1 WHERE t0."id" = $2
