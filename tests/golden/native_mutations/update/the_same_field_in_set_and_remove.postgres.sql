-- native_mutations
-- stored
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- stored
SELECT t0."population" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- other
SELECT t0."population" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- moment
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- moment
SELECT t0."founded" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- point
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- point
SELECT t0."at_longitude", t0."at_latitude" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- mood
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- mood
SELECT t0."mood" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- key
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- key
SELECT t0."nick" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- required
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- required
SELECT t0."name" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- list
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- list
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."place")

-- same
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- same
SELECT t0."population" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- same_moment
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- same_moment
SELECT t0."founded" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- null
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- null
SELECT t0."mood", t0."nick" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- all
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- all
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t1."place")

-- stored: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- stored: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)

-- other: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- other: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)

-- moment: update rows of City (founded, founded_at) where id in values
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE t0."id" = ANY($3)

-- moment: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE (t0."id" = ANY($3) AND t0."founded_at" = $4)

-- point: update rows of City (at_longitude, at_latitude) where id in values
UPDATE "public"."City" AS t0 SET "at_longitude" = $1, "at_latitude" = $2 WHERE t0."id" = ANY($3)

-- point: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "public"."City" AS t0 SET "at_longitude" = $1, "at_latitude" = $2 WHERE (t0."id" = ANY($3) AND t0."at_longitude" = $4 AND t0."at_latitude" = $5)

-- mood: update rows of Person (visits, mood) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "mood" = $2 WHERE t0."id" = ANY($3)

-- mood: update rows of Person (mood) where id in values and mood = value
UPDATE "public"."Person" AS t0 SET "mood" = $1 WHERE (t0."id" = ANY($2) AND t0."mood" = $3)

-- key: find id of Person where nick = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1

-- key: update rows of Person (visits, nick) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "nick" = $2 WHERE t0."id" = ANY($3)

-- key: update rows of Person (nick) where id in values and nick = value
UPDATE "public"."Person" AS t0 SET "nick" = $1 WHERE (t0."id" = ANY($2) AND t0."nick" = $3)

-- required: update rows of Country (name) where id in values
UPDATE "public"."Country" AS t0 SET "name" = $1 WHERE t0."id" = ANY($2)

-- list: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- list: delete rows of City_tags where id in values and value = value
DELETE FROM "public"."City_tags" AS t0 WHERE (t0."id" = ANY($1) AND t0."value" = $2)

-- same: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- same: update rows of City (population) where id in values and population = value
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE (t0."id" = ANY($2) AND t0."population" = $3)

-- same_moment: update rows of City (founded, founded_at) where id in values
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE t0."id" = ANY($3)

-- same_moment: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "public"."City" AS t0 SET "founded" = $1, "founded_at" = $2 WHERE (t0."id" = ANY($3) AND t0."founded_at" = $4)

-- null: find id of Person where nick = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1

-- null: update rows of Person (visits, nick, mood) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "nick" = $2, "mood" = $3 WHERE t0."id" = ANY($4)

-- null: update rows of Person (nick) where id in values
UPDATE "public"."Person" AS t0 SET "nick" = $1 WHERE t0."id" = ANY($2)

-- null: update rows of Person (mood) where id in values
UPDATE "public"."Person" AS t0 SET "mood" = $1 WHERE t0."id" = ANY($2)

-- all: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- all: delete rows of City_tags where id in values
DELETE FROM "public"."City_tags" AS t0 WHERE t0."id" = ANY($1)
