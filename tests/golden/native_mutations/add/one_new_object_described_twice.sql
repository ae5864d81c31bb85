-- native_mutations
-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- addPerson: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addPerson: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- addPerson: reserve numbers of objects
SELECT next_id FROM weir_store

-- addPerson: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- addPerson: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- addPerson: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- addPerson: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)

-- addPerson: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("person_id", "city_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING

-- addPerson.person
SELECT t0."id" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- addPerson.person.loves
SELECT t0."name", t0."country_id" FROM "City_lovers" AS t1 JOIN "City" AS t0 ON t0."id" = t1."city_id" WHERE t1."person_id" = ?1 ORDER BY t1."city_id"

-- addPerson.person.loves.country
SELECT t0."name" FROM "Country" AS t0 WHERE t0."id" = ?1
