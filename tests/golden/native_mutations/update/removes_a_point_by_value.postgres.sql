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

-- set: update rows of City (at_longitude, at_latitude) where id in values
UPDATE "public"."City" AS t0 SET "at_longitude" = $1, "at_latitude" = $2 WHERE t0."id" = ANY($3)

-- other: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "public"."City" AS t0 SET "at_longitude" = $1, "at_latitude" = $2 WHERE (t0."id" = ANY($3) AND t0."at_longitude" = $4 AND t0."at_latitude" = $5)

-- same: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "public"."City" AS t0 SET "at_longitude" = $1, "at_latitude" = $2 WHERE (t0."id" = ANY($3) AND t0."at_longitude" = $4 AND t0."at_latitude" = $5)
