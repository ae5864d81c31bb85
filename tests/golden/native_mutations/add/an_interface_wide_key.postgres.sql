-- native_mutations
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
