-- native_mutations
-- a
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1 ORDER BY t0."id"

-- b
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- a: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- a: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- a: insert a row of Person_likes (person_id, thing_id) unless it is there
INSERT INTO "public"."Person_likes" AS t0 ("person_id", "thing_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- b: delete rows of City_lovers where city_id in values
DELETE FROM "public"."City_lovers" AS t0 WHERE t0."city_id" = ANY($1)

-- b: delete rows of Person_likes where thing_id in values
DELETE FROM "public"."Person_likes" AS t0 WHERE t0."thing_id" = ANY($1)

-- b: delete rows of City_tags where id in values
DELETE FROM "public"."City_tags" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of City where id in values
DELETE FROM "public"."City" AS t0 WHERE t0."id" = ANY($1)

-- b: delete rows of Thing where id in values
DELETE FROM "public"."Thing" AS t0 WHERE t0."id" = ANY($1)
