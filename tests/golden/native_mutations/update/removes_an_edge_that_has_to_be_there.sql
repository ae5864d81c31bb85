-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- updateCountry: find id of City where country_id in values and id = value
SELECT t0."id" FROM "City" AS t0 WHERE (t0."country_id" IN (SELECT value FROM json_each(?1)) AND t0."id" = ?2)

-- updateCountry: update rows of City (country_id) where country_id in values and id = value
UPDATE "City" AS t0 SET "country_id" = ?1 WHERE (t0."country_id" IN (SELECT value FROM json_each(?2)) AND t0."id" = ?3)
