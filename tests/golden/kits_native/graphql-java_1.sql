-- kits_native
-- addCountry: find cid of Country where id = value
SELECT t0."cid" FROM "Country" AS t0 WHERE t0."id" = ?1

-- addCountry: find cid of City where id = value
SELECT t0."cid" FROM "City" AS t0 WHERE t0."id" = ?1

-- addCountry: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCountry: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCountry: insert a row of Country (cid, id, name)
INSERT INTO "Country" AS t0 ("cid", "id", "name") VALUES (?1, ?2, ?3)

-- addCountry: insert a row of City (cid, id, name, country_id)
INSERT INTO "City" AS t0 ("cid", "id", "name", "country_id") VALUES (?1, ?2, ?3, ?4)

-- addCountry: update rows of Country (id, name) where cid = value
UPDATE "Country" AS t0 SET "id" = ?1, "name" = ?2 WHERE t0."cid" = ?3

-- addCountry: update rows of City (country_id) where cid = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."cid" = ?2

-- addCountry.country
SELECT t0."name" FROM "Country" AS t0 WHERE t0."cid" IN (SELECT value FROM json_each(?1)) ORDER BY t0."cid"
