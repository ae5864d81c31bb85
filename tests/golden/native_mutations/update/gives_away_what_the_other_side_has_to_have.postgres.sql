-- native_mutations
-- updateLicence
SELECT t0."id" FROM "public"."Licence" AS t0 WHERE t0."number" = $1 ORDER BY t0."id"

-- updateLicence: find id of Driver where name = value
SELECT t0."id" FROM "public"."Driver" AS t0 WHERE t0."name" = $1

-- updateLicence: reserve numbers of objects
SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)

-- updateLicence: clear licence_id of Driver where licence_id = value and id <> value
UPDATE "public"."Driver" AS t0 SET "licence_id" = NULL WHERE (t0."licence_id" = $1 AND t0."id" <> $2)

-- updateLicence: insert a row of Driver (id, name, licence_id)
INSERT INTO "public"."Driver" AS t0 ("id", "name", "licence_id") VALUES ($1, $2, $3)

-- updateLicence: find licence_id of Driver where id = value
SELECT t0."licence_id" FROM "public"."Driver" AS t0 WHERE t0."id" = $1

-- updateLicence: update rows of Driver (licence_id) where id = value
UPDATE "public"."Driver" AS t0 SET "licence_id" = $1 WHERE t0."id" = $2
