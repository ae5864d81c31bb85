-- postgres
-- contains
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" @> $1

-- contained_in
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" <@ $1 ORDER BY t0."id"

-- equal
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" = $1

-- in
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" = ANY(SELECT v::int4[] FROM unnest($1) AS v) ORDER BY t0."id" OFFSET 0 * num_nulls((SELECT count(v::int4[]) FROM unnest($1) AS v))

-- nin
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" <> ALL(SELECT v::int4[] FROM unnest($1) AS v) ORDER BY t0."id" OFFSET 0 * num_nulls((SELECT count(v::int4[]) FROM unnest($1) AS v))

-- greater
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."numbers" > $1 ORDER BY t0."id"

-- null
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."words" IS NULL

-- moods
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."moods" @> $1

-- ordered
SELECT t0."id" FROM "public"."list" AS t0 ORDER BY t0."numbers" DESC
