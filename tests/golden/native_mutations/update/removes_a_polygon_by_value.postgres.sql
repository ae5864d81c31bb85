-- native_mutations
-- set
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = ANY($1) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- same
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"
