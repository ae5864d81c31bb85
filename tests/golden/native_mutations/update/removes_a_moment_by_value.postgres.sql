-- native_mutations
-- other
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- other
SELECT t0."founded" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- same
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- same
SELECT t0."founded" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- other: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE (t0."id" = ANY($3) AND t0."founded_at" = $4)

-- same: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE (t0."id" = ANY($3) AND t0."founded_at" = $4)
