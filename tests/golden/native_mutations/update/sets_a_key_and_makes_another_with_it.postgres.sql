-- native_mutations
-- updatePerson
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- updatePerson: find id of Person where nick = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1

-- updatePerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- updatePerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updatePerson: update rows of Person (visits, nick) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "nick" = $2 WHERE t0."id" = ANY($3)

-- updatePerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- updatePerson: insert a row of Person_friends (person_id, friends_id) unless it is there
INSERT INTO "public"."Person_friends" AS t0 ("person_id", "friends_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
