-- native_mutations
-- updateCity
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- updateCity: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- updateCity: reserve numbers of objects
SELECT next_id FROM weir_store

-- updateCity: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- updateCity: update rows of City (population) where id in values
UPDATE "City" AS t0 SET "population" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- updateCity: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- updateCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "City_tags" AS t0 ("id", "value") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- updateCity: insert a row of City_lovers (city_id, person_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("city_id", "person_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- updateCity.city
SELECT t0."population", t0."id" FROM "City" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- updateCity.city.tags
SELECT t0."value" FROM "City_tags" AS t0 WHERE t0."id" = ?1 ORDER BY t0."place"

-- updateCity.city.lovers
SELECT t0."email" FROM "City_lovers" AS t1 JOIN "Person" AS t0 ON t0."id" = t1."person_id" WHERE t1."city_id" = ?1 ORDER BY t1."person_id"
