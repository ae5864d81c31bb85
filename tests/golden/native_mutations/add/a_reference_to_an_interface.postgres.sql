-- native_mutations
-- b
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1 ORDER BY t0."id"

-- b
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."type" AS c0, t1."id" AS c1, t1."keeper_id" AS k0 FROM "public"."Animal_all" AS t1 WHERE t1."keeper_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."id"), l2 AS MATERIALIZED (SELECT t2."name" AS c0, t2."keeper_id" AS c1, t2."id" AS k0 FROM "public"."Dog" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT DISTINCT l1.c1 FROM l1))), l4 AS MATERIALIZED (SELECT t4."name" AS c0, t4."keeper_id" AS c1, t4."id" AS k0 FROM "public"."Cat" AS t4 WHERE t4."id" = ANY(ARRAY(SELECT DISTINCT l1.c1 FROM l1))) SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, l2.c1, l2.c0, l2.k0 FROM l2 UNION ALL SELECT 3::int2, t3."id", t3."nick", NULL FROM "public"."Person" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT DISTINCT l2.c1 FROM l2)) UNION ALL SELECT 4::int2, l4.c1, l4.c0, l4.k0 FROM l4 UNION ALL SELECT 5::int2, t5."id", t5."nick", NULL FROM "public"."Person" AS t5 WHERE t5."id" = ANY(ARRAY(SELECT DISTINCT l4.c1 FROM l4))

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

-- b: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- b: update rows of Dog (keeper_id) where id = value
UPDATE "public"."Dog" AS t0 SET "keeper_id" = $1 WHERE t0."id" = $2

-- b: update rows of Cat (keeper_id) where id = value
UPDATE "public"."Cat" AS t0 SET "keeper_id" = $1 WHERE t0."id" = $2
