-- native_mutations
-- addCat
SELECT t0."name", t0."lives" FROM "public"."Cat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"

-- addCat: find id, type of Animal where name = value
SELECT t0."id", t0."type" FROM "public"."Animal" AS t0 WHERE t0."name" = $1

-- addCat: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCat: insert a row of Animal (id, type, name)
INSERT INTO "public"."Animal" AS t0 ("id", "type", "name") VALUES ($1, $2, $3)

-- addCat: insert a row of Cat (id, name, keeper_id, lives)
INSERT INTO "public"."Cat" AS t0 ("id", "name", "keeper_id", "lives") VALUES ($1, $2, $3, $4)
