-- native_mutations
-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "Person" AS t0 WHERE t0."email" = ?1

-- addPerson: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addPerson: reserve numbers of objects
SELECT next_id FROM weir_store

-- addPerson: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- addPerson: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "City_lovers" AS t0 ("person_id", "city_id") VALUES (?1, ?2) ON CONFLICT DO NOTHING
