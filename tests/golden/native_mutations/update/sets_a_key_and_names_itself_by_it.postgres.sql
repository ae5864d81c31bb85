-- native_mutations
-- updatePerson
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- updatePerson
WITH l0 AS MATERIALIZED (SELECT t0."nick" AS c0, t0."spouse_id" AS c1, t0."id" AS c2 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."email", t1."id", NULL FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) UNION ALL (SELECT 2::int2, t2."email", t3."person_id", NULL FROM "public"."Person_friends" AS t3 JOIN "public"."Person" AS t2 ON t2."id" = t3."friends_id" WHERE t3."person_id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t3."friends_id")

-- updatePerson: find id of Person where nick = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."nick" = $1

-- updatePerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- updatePerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updatePerson: update rows of Person (visits, nick) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1, "nick" = $2 WHERE t0."id" = ANY($3)

-- updatePerson: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "public"."Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = $1 AND t0."id" <> $2)

-- updatePerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- updatePerson: update rows of Person (spouse_id) where id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = $2

-- updatePerson: insert a row of Person_friends (person_id, friends_id) unless it is there
INSERT INTO "public"."Person_friends" AS t0 ("person_id", "friends_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
