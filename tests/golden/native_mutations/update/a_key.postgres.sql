-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- updateCountry
SELECT t0."code", t0."name" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- updateCountry: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- updateCountry: update rows of Country (code) where id in values
UPDATE "public"."Country" AS t0 SET "code" = $1 WHERE t0."id" = ANY($2)
