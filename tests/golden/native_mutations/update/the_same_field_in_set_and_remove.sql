-- native_mutations
-- stored
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- stored: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- stored: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- stored.city
SELECT t0."population" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- other
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- other: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- other: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- other.city
SELECT t0."population" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- moment
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- moment: update rows of City (founded, founded_at) where id in values
UPDATE "City" AS t0 SET "founded" = ?1, "founded_at" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- moment: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "City" AS t0 SET "founded" = ?1, "founded_at" = ?2 WHERE (t0."id" IN (SELECT value FROM json_each(?3)) AND t0."founded_at" = ?4)

-- moment.city
SELECT t0."founded" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- point
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- point: update rows of City (at_longitude, at_latitude) where id in values
UPDATE "City" AS t0 SET "at_longitude" = ?1, "at_latitude" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- point: update rows of City (at_longitude, at_latitude) where id in values and at_longitude = value and at_latitude = value
UPDATE "City" AS t0 SET "at_longitude" = ?1, "at_latitude" = ?2 WHERE (t0."id" IN (SELECT value FROM json_each(?3)) AND t0."at_longitude" = ?4 AND t0."at_latitude" = ?5)

-- point.city
SELECT t0."at_longitude", t0."at_latitude" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- mood
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- mood: update rows of Person (visits, mood) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1, "mood" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- mood: update rows of Person (mood) where id in values and mood = value
UPDATE "Person" AS t0 SET "mood" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."mood" = ?3)

-- mood.person
SELECT t0."mood" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- key
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- key: find id of Person where nick = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1

-- key: update rows of Person (visits, nick) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1, "nick" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- key: update rows of Person (nick) where id in values and nick = value
UPDATE "Person" AS t0 SET "nick" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."nick" = ?3)

-- key.person
SELECT t0."nick" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- required
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- required: update rows of Country (name) where id in values
UPDATE "Country" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- required.country
SELECT t0."name" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- list
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- list: insert a row of City_tags (id, value) unless it is there
INSERT INTO "City_tags" AS t0 ("id", "value") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- list: delete rows of City_tags where id in values and value = value
DELETE FROM "City_tags" AS t0 WHERE (t0."id" IN (SELECT value FROM json_each(?1)) AND t0."value" = ?2)

-- list.city
SELECT t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- list.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- same
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- same: update rows of City (population) where id in values and population = value
UPDATE "City" AS t0 SET "population" = ?1 WHERE (t0."id" IN (SELECT value FROM json_each(?2)) AND t0."population" = ?3)

-- same.city
SELECT t0."population" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- same_moment
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same_moment: update rows of City (founded, founded_at) where id in values
UPDATE "City" AS t0 SET "founded" = ?1, "founded_at" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- same_moment: update rows of City (founded, founded_at) where id in values and founded_at = value
UPDATE "City" AS t0 SET "founded" = ?1, "founded_at" = ?2 WHERE (t0."id" IN (SELECT value FROM json_each(?3)) AND t0."founded_at" = ?4)

-- same_moment.city
SELECT t0."founded" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- null
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1 ORDER BY t0."id"

-- null: find id of Person where nick = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1

-- null: update rows of Person (visits, nick, mood) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1, "nick" = ?2, "mood" = ?3 WHERE t0."id" IN (SELECT value FROM json_each(?4))

-- null: update rows of Person (nick) where id in values
UPDATE "Person" AS t0 SET "nick" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- null: update rows of Person (mood) where id in values
UPDATE "Person" AS t0 SET "mood" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- null.person
SELECT t0."mood", t0."nick" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- all
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- all: insert a row of City_tags (id, value) unless it is there
INSERT INTO "City_tags" AS t0 ("id", "value") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- all: delete rows of City_tags where id in values
DELETE FROM "City_tags" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1))

-- all.city
SELECT t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- all.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"
