-- native_mutations
-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- addPerson: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- addPerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- addPerson: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("person_id", "city_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
