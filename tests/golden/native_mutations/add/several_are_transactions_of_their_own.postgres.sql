-- native_mutations
-- a: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- a: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- a: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)

-- b: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- b: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- b: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)

-- c: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- c: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- c: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)
