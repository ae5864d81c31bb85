-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry: find id of City where country_id in values
SELECT t0."id" FROM "City" AS t0 WHERE t0."country_id" IN (SELECT value FROM json_each(?1))

-- updateCountry: update rows of City (country_id) where country_id in values
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE t0."country_id" IN (SELECT value FROM json_each(?2))
