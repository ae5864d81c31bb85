-- native_mutations
-- updateCity
SELECT t0."id" FROM "public"."City" AS t0 WHERE t0."name" = $1 ORDER BY t0."id"

-- updateCity
WITH l0 AS MATERIALIZED (SELECT t0."population" AS c0, t0."id" AS c1 FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, NULL::text FROM l0 UNION ALL (SELECT 1::int2, t1."id", NULL, t1."value" FROM "public"."City_tags" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t1."place") UNION ALL (SELECT 2::int2, t3."city_id", NULL, t2."email" FROM "public"."City_lovers" AS t3 JOIN "public"."Person" AS t2 ON t2."id" = t3."person_id" WHERE t3."city_id" = ANY(ARRAY(SELECT l0.c1 FROM l0)) ORDER BY t3."person_id")

-- updateCity: find id of Person where email = value
SELECT t0."id" FROM "public"."Person" AS t0 WHERE t0."email" = $1

-- updateCity: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateCity: update rows of City (population) where id in values
UPDATE "public"."City" AS t0 SET "population" = $1 WHERE t0."id" = ANY($2)

-- updateCity: insert a row of Person (id, email, nick, mood, visits, joined, joined_at, spouse_id, password)
INSERT INTO "public"."Person" AS t0 ("id", "email", "nick", "mood", "visits", "joined", "joined_at", "spouse_id", "password") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- updateCity: insert a row of City_tags (id, value) unless it is there
INSERT INTO "public"."City_tags" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- updateCity: insert a row of City_lovers (city_id, person_id) unless it is there
INSERT INTO "public"."City_lovers" AS t0 ("city_id", "person_id") VALUES ($1, $2) ON CONFLICT DO NOTHING
