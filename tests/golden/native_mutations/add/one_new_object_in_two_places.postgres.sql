-- native_mutations
-- addPerson
WITH l0 AS MATERIALIZED (SELECT t0."email" AS c0, t0."id" AS c1 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL (SELECT 1::int2, t1."email", t2."person_id" FROM "public"."Person_friends" AS t2 JOIN "public"."Person" AS t1 ON t1."id" = t2."friends_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t2."friends_id")

-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- addPerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- addPerson: insert a row of Person_friends (person_id, friends_id) unless it is there
INSERT INTO "public"."Person_friends" AS t0 ("person_id", "friends_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
