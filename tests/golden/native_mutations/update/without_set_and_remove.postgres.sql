-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
