-- native_mutations
-- b
SELECT t0."id" FROM "public"."Animal_all" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- b
WITH l0 AS MATERIALIZED (SELECT t0."type" AS c0, t0."id" AS c1 FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."name", t1."id" FROM "public"."Dog" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, t2."name", t2."id" FROM "public"."Cat" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))

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

-- b: find id, type of Animal where id in values
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."id" = ANY($1)

-- b: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- b: update rows of Animal (name) where id in values
UPDATE "public"."Animal" AS t0 SET "name" = $1 WHERE t0."id" = ANY($2)

-- b: update rows of Dog (name) where id in values
UPDATE "public"."Dog" AS t0 SET "name" = $1 WHERE t0."id" = ANY($2)

-- b: update rows of Cat (name) where id in values
UPDATE "public"."Cat" AS t0 SET "name" = $1 WHERE t0."id" = ANY($2)

-- c: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- c: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- c: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- c: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "public"."Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES ($1, $2, $3, $4)

-- d: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- d: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- d: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- d: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "public"."Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES ($1, $2, $3, $4)
