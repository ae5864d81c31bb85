-- native_rules
-- addFleet: find id of Fleet where name = value
SELECT t0."id" FROM "public"."Fleet" AS t0 WHERE t0."name" = $1

-- addFleet: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addFleet: insert a row of Fleet (id, name)
INSERT INTO "public"."Fleet" AS t0 ("id", "name") VALUES ($1, $2)
