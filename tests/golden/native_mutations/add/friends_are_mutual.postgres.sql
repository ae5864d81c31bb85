-- native_mutations
-- addPerson
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0, t0."spouse_id" AS c1 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."email" AS c0, t1."id" AS c1, t2."person_id" AS k0 FROM "public"."Person_friends" AS t2 JOIN "public"."Person" AS t1 ON t1."id" = t2."friends_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."friends_id"), l3 AS MATERIALIZED (SELECT t5."email" AS c0, t5."spouse_id" AS c1, t5."id" AS k0 FROM "public"."Person" AS t5 WHERE t5."id" = ANY(ARRAY(SELECT l0.c1 FROM l0))) SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.k0, l1.c0 FROM l1 UNION ALL (SELECT 2::int2, t4."person_id", NULL, t3."email" FROM "public"."Person_friends" AS t4 JOIN "public"."Person" AS t3 ON t3."id" = t4."friends_id" WHERE t4."person_id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) ORDER BY t4."friends_id") UNION ALL SELECT 3::int2, l3.c1, l3.k0, l3.c0 FROM l3 UNION ALL SELECT 4::int2, t6."id", NULL, t6."email" FROM "public"."Person" AS t6 WHERE t6."id" = ANY(ARRAY(SELECT l3.c1 FROM l3))

-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- addPerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- addPerson: update rows of Person (spouse_id) where id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = $2

-- addPerson: insert a row of Person_friends (person_id, friends_id) unless it is there
INSERT INTO "public"."Person_friends" AS t0 ("person_id", "friends_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- addPerson: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "public"."Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = $1 AND t0."id" <> $2)
