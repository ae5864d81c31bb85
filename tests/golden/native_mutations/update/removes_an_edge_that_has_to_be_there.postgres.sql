-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- updateCountry: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- updateCountry: find id of City where country_id in values and id = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE (t0."country_id" = ANY($1) AND t0."id" = $2)

-- updateCountry: update rows of City (country_id) where country_id in values and id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE (t0."country_id" = ANY($2) AND t0."id" = $3)
