-- native_mutations
-- a
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1 ORDER BY t0."id"

-- a
SELECT t0."visits", t0."mood" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- b
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1 ORDER BY t0."id"

-- b
SELECT t0."visits", t0."mood" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- a: update rows of Person (visits, mood) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "mood" = $2 WHERE t0."id" = ANY($3)

-- b: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)
