-- native_mutations
-- addCountry
SELECT t0."code" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- addCountry: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- addCountry: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCountry: insert a row of Country (id, code, name)
INSERT INTO "public"."Country" AS t0 ("id", "code", "name") VALUES ($1, $2, $3)
