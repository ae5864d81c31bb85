-- native_mutations
-- addCountry: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- addCountry: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- addCountry: reserve numbers of objects
SELECT next_id FROM weir_store

-- addCountry: reserve numbers of objects
UPDATE weir_store SET next_id = next_id + $1

-- addCountry: insert a row of Country (id, code, name)
INSERT INTO "Country" AS t0 ("id", "code", "name") VALUES (?1, ?2, ?3)

-- addCountry: update rows of City (capitalOf_id) where id = value
UPDATE "City" AS t0 SET "capitalOf_id" = ?1 WHERE t0."id" = ?2

-- addCountry.country
SELECT t0."id" FROM "Country" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- addCountry.country.capital
SELECT t0."name", t0."capitalOf_id" FROM "City" AS t0 WHERE t0."capitalOf_id" = ?1

-- addCountry.country.capital.capitalOf
SELECT t0."code" FROM "Country" AS t0 WHERE t0."id" = ?1
