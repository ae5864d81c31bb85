-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = ANY($1) ORDER BY t0."id"

-- updateCountry
SELECT t0."code", t0."name" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- updateCountry: update rows of Country (name) where id in values
UPDATE "public"."Country" AS t0 SET "name" = $1 WHERE t0."id" = ANY($2)
