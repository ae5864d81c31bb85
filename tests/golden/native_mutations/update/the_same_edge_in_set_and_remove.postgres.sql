-- native_mutations
-- stored
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- stored
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."capitalOf_id" AS c1 FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- other
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- other
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."name" AS c0, t1."capitalOf_id" AS c1 FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."code" FROM "public"."Country" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- back
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- back
WITH l0 AS MATERIALIZED (SELECT t0."capitalOf_id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."code" AS c0, t1."id" AS c1 FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0 FROM l1 UNION ALL SELECT 2::int2, t2."capitalOf_id", t2."name" FROM "public"."City" AS t2 WHERE t2."capitalOf_id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- required
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- required
WITH l0 AS MATERIALIZED (SELECT t0."country_id" AS c0 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."id", t1."code" FROM "public"."Country" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c0 FROM l0))

-- list
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- list
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t2."person_id", t1."name" FROM "public"."City_lovers" AS t2 JOIN "public"."City" AS t1 ON t1."id" = t2."city_id" WHERE t2."person_id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) ORDER BY t2."city_id")

-- married
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- married
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."email" AS c0, t1."spouse_id" AS c1, t1."id" AS k0 FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."email", NULL FROM "public"."Person" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- mutual
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- mutual
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"), l1 AS MATERIALIZED (SELECT t1."email" AS c0, t1."spouse_id" AS c1, t1."id" AS k0 FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0))) SELECT 0::int2, l0.c0, NULL::text, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, l1.c1, l1.c0, l1.k0 FROM l1 UNION ALL SELECT 2::int2, t2."id", t2."email", NULL FROM "public"."Person" AS t2 WHERE t2."id" = ANY(ARRAY(SELECT l1.c1 FROM l1))

-- same
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1 ORDER BY t0."id"

-- same
WITH l0 AS MATERIALIZED (SELECT t0."id" AS c0 FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."capitalOf_id", t1."name" FROM "public"."City" AS t1 WHERE t1."capitalOf_id" = ANY(ARRAY(SELECT l0.c0 FROM l0))

-- null
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1 ORDER BY t0."id"

-- null
WITH l0 AS MATERIALIZED (SELECT t0."spouse_id" AS c0, t0."id" AS c1 FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL SELECT 1::int2, t1."id", NULL, t1."email" FROM "public"."Person" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c0 FROM l0)) UNION ALL (SELECT 2::int2, t3."person_id", NULL, t2."name" FROM "public"."City_lovers" AS t3 JOIN "public"."City" AS t2 ON t2."id" = t3."city_id" WHERE t3."person_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t3."city_id")

-- stored: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- stored: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = $1 AND t0."id" <> $2)

-- stored: update rows of City (capitalOf_id) where id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = $2

-- stored: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE (t0."capitalOf_id" = ANY($2) AND t0."id" = $3)

-- other: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- other: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = $1 AND t0."id" <> $2)

-- other: update rows of City (capitalOf_id) where id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = $2

-- other: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE (t0."capitalOf_id" = ANY($2) AND t0."id" = $3)

-- back: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- back: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = $1 AND t0."id" <> $2)

-- back: update rows of City (capitalOf_id) where id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = $2

-- back: update rows of City (capitalOf_id) where id in values and capitalOf_id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE (t0."id" = ANY($2) AND t0."capitalOf_id" = $3)

-- required: find id of Country where code = value
SELECT t0."id" FROM "public"."Country" AS t0 WHERE t0."code" = $1

-- required: update rows of City (country_id) where id = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."id" = $2

-- list: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- list: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- list: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("person_id", "city_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- list: delete rows of City_lovers where person_id in values and city_id = value
DELETE FROM "public"."City_lovers" AS t0 WHERE (t0."person_id" = ANY($1) AND t0."city_id" = $2)

-- married: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- married: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- married: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- married: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "public"."Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = $1 AND t0."id" <> $2)

-- married: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- married: update rows of Person (spouse_id) where id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = $2

-- mutual: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- mutual: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- mutual: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- mutual: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "public"."Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = $1 AND t0."id" <> $2)

-- mutual: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- mutual: update rows of Person (spouse_id) where id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = $2

-- mutual: update rows of Person (spouse_id) where id in values and spouse_id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE (t0."id" = ANY($2) AND t0."spouse_id" = $3)

-- mutual: update rows of Person (spouse_id) where spouse_id in values and id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE (t0."spouse_id" = ANY($2) AND t0."id" = $3)

-- same: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- same: clear capitalOf_id of City where capitalOf_id = value and id <> value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = NULL WHERE (t0."capitalOf_id" = $1 AND t0."id" <> $2)

-- same: update rows of City (capitalOf_id) where id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE t0."id" = $2

-- same: update rows of City (capitalOf_id) where capitalOf_id in values and id = value
UPDATE "public"."City" AS t0 SET "capitalOf_id" = $1 WHERE (t0."capitalOf_id" = ANY($2) AND t0."id" = $3)

-- null: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- null: find id of City where name = value
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1

-- null: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- null: update rows of Person (visits) where id in values
UPDATE "public"."Person" AS t0 SET "visits" = $1 WHERE t0."id" = ANY($2)

-- null: clear spouse_id of Person where spouse_id = value and id <> value
UPDATE "public"."Person" AS t0 SET "spouse_id" = NULL WHERE (t0."spouse_id" = $1 AND t0."id" <> $2)

-- null: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- null: update rows of Person (spouse_id) where id = value
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = $2

-- null: insert a row of City_lovers (person_id, city_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("person_id", "city_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- null: update rows of Person (spouse_id) where id in values
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."id" = ANY($2)

-- null: update rows of Person (spouse_id) where spouse_id in values
UPDATE "public"."Person" AS t0 SET "spouse_id" = $1 WHERE t0."spouse_id" = ANY($2)

-- null: delete rows of City_lovers where person_id in values
DELETE FROM "public"."City_lovers" AS t0 WHERE t0."person_id" = ANY($1)
