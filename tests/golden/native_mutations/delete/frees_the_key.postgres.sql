-- native_mutations
-- a
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- b
SELECT t0."name" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- a: clear country_id of City where country_id in values
UPDATE "public"."City" AS t0 SET "country_id" = NULL WHERE t0."country_id" = ANY($1)

-- a: clear capitalOf_id of City where capitalOf_id in values
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE t0."capitalOf_id" = ANY($1)

-- a: delete rows of Country where id in values
DELETE FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1)

-- b: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- b: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- b: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)
