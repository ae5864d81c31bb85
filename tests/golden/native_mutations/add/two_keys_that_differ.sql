-- native_mutations
-- addCity: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addCity: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- addCity: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- addCity: find id of Person where nick = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1

-- addCity: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCity: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCity: insert a row of Thing (id, type)
INSERT INTO "Thing" AS t0 ("id", "type") VALUES (?1, ?2)

-- addCity: insert a row of City (id, name, country_id, capitalOf_id, population, founded, founded_at, at_longitude, at_latitude, area, area_west, area_south, area_east, area_north)
INSERT INTO "City" AS t0 ("id", "name", "country_id", "capitalOf_id", "population", "founded", "founded_at", "at_longitude", "at_latitude", "area", "area_west", "area_south", "area_east", "area_north") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)

-- addCity: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- addCity: insert a row of City_lovers (city_id, person_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("city_id", "person_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING
