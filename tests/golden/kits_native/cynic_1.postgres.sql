-- kits_native
-- addCountry
SELECT t0."name" FROM "public"."Country" AS t0 WHERE t0."cid" = ANY($1) ORDER BY t0."cid"

-- addCountry: find cid of Country where id = value
SELECT t0."cid" FROM "public"."Country" AS t0 WHERE t0."id" = $1

-- addCountry: find cid of City where id = value
SELECT t0."cid" FROM "public"."City" AS t0 WHERE t0."id" = $1

-- addCountry: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- addCountry: insert a row of Country (cid, id, name)
INSERT INTO "public"."Country" AS t0 ("cid", "id", "name") VALUES ($1, $2, $3)

-- addCountry: insert a row of City (cid, id, name, country_id)
INSERT INTO "public"."City" AS t0 ("cid", "id", "name", "country_id") VALUES ($1, $2, $3, $4)

-- addCountry: update rows of Country (id, name) where cid = value
UPDATE "public"."Country" AS t0 SET "id" = $1, "name" = $2 WHERE t0."cid" = $3

-- addCountry: update rows of City (country_id) where cid = value
UPDATE "public"."City" AS t0 SET "country_id" = $1 WHERE t0."cid" = $2
