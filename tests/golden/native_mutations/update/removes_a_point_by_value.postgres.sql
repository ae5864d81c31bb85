-- native_mutations
-- set
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- set
SELECT t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- other
SELECT t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- same
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- same
SELECT t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
