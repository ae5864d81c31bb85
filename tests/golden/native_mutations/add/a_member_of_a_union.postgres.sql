-- native_mutations
-- addPerson
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."type" AS c0, t1."id" AS c1, t2."person_id" AS k0 FROM "public"."Person_likes" AS t2 JOIN "public"."Thing" AS t1 ON t1."id" = t2."thing_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."thing_id") SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t3."id", t3."name", NULL FROM "public"."City" AS t3 WHERE t3."id" = ANY(ARRAY(SELECT l1.c1 FROM l1)) UNION ALL SELECT 3::int2, t4."id", t4."breed", NULL FROM "public"."Dog" AS t4 WHERE t4."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- addPerson: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- addPerson: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- addPerson: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- addPerson: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addPerson: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- addPerson: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- addPerson: insert a row of Thing (id, type)
INSERT INTO "public"."Thing" AS t0 ("id", "type") VALUES ($1, $2)

-- addPerson: insert a row of Dog (id, name, keeper_id, breed)
INSERT INTO "public"."Dog" AS t0 ("id", "name", "keeper_id", "breed") VALUES ($1, $2, $3, $4)

-- addPerson: insert a row of Person_likes (person_id, thing_id) unless it is there
INSERT INTO "public"."Person_likes" AS t0 ("person_id", "thing_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
