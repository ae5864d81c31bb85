-- native_mutations
-- updateLicence
SELECT t0."id" FROM "Licence" AS t0 WHERE t0."number" = ?1 ORDER BY t0."id"

-- updateLicence: find id of Driver where name = value
SELECT t0."id" FROM "Driver" AS t0 WHERE t0."name" = ?1

-- updateLicence: reserve numbers of objects
SELECT next_id FROM weir_store

-- updateLicence: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- updateLicence: clear licence_id of Driver where licence_id = value and id <> value
UPDATE "Driver" AS t0 SET "licence_id" = NULL WHERE (t0."licence_id" = ?1 AND t0."id" <> ?2)

-- updateLicence: insert a row of Driver (id, name, licence_id)
INSERT INTO "Driver" AS t0 ("id", "name", "licence_id") VALUES (?1, ?2, ?3)

-- updateLicence: find licence_id of Driver where id = value
SELECT t0."licence_id" FROM "Driver" AS t0 WHERE t0."id" = ?1

-- updateLicence: update rows of Driver (licence_id) where id = value
UPDATE "Driver" AS t0 SET "licence_id" = ?1 WHERE t0."id" = ?2
