-- native_names
-- updatePart
SELECT t0."id" FROM "public"."Part" AS t0 WHERE t0."and" = $1 ORDER BY t0."id"

-- updatePart
SELECT t0."has" FROM "public"."Part" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- upsert
WITH l0 AS MATERIALIZED (SELECT t0."name" AS c0, t0."has_id" AS c1, t0."id" AS c2 FROM "public"."Owner" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id") SELECT 0::int2, l0.c0, l0.c1, l0.c2 FROM l0 UNION ALL SELECT 1::int2, t1."has", t1."id", NULL FROM "public"."Part" AS t1 WHERE t1."id" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL (SELECT 2::int2, t2."name", t3."owner_id", NULL FROM "public"."Owner_or" AS t3 JOIN "public"."Owner" AS t2 ON t2."id" = t3."or_id" WHERE t3."owner_id" = ANY(ARRAY(SELECT l0.c2 FROM l0)) ORDER BY t2."name", t3."or_id")

-- updatePart: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updatePart: update rows of Part (has, and, or, or_at) where id in values
UPDATE "public"."Part" AS t0 SET "has" = $1, "and" = $2, "or" = $3, "or_at" = $4 WHERE t0."id" = ANY($5)

-- updatePart: insert a row of Node (id, type)
INSERT INTO "public"."Node" AS t0 ("id", "type") VALUES ($1, $2)

-- updatePart: insert a row of Part (id, desc, asc, has, and, or, or_at, then_id)
INSERT INTO "public"."Part" AS t0 ("id", "desc", "asc", "has", "and", "or", "or_at", "then_id") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- updatePart: update rows of Part (then_id) where id = value
UPDATE "public"."Part" AS t0 SET "then_id" = $1 WHERE t0."id" = $2

-- updatePart: insert a row of Part_not (id, value) unless it is there
INSERT INTO "public"."Part_not" AS t0 ("id", "value") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- updatePart: update rows of Part (desc) where id in values
UPDATE "public"."Part" AS t0 SET "desc" = $1 WHERE t0."id" = ANY($2)

-- updatePart: delete rows of Part_not where id in values and value = value
DELETE FROM "public"."Part_not" AS t0 WHERE (t0."id" = ANY($1) AND t0."value" = $2)

-- upsert: find id of Owner where name = value
SELECT t0."id" FROM "public"."Owner" AS t0 WHERE t0."name" = $1

-- upsert: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- upsert: insert a row of Node (id, type)
INSERT INTO "public"."Node" AS t0 ("id", "type") VALUES ($1, $2)

-- upsert: insert a row of Owner (id, name, has_id)
INSERT INTO "public"."Owner" AS t0 ("id", "name", "has_id") VALUES ($1, $2, $3)

-- upsert: insert a row of Owner_or (owner_id, or_id) unless it is there
INSERT INTO "public"."Owner_or" AS t0 ("owner_id", "or_id") VALUES ($1, $2) ON CONFLICT DO NOTHING

-- upsert: update rows of Owner (name) where id = value
UPDATE "public"."Owner" AS t0 SET "name" = $1 WHERE t0."id" = $2
