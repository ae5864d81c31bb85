-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry: update rows of Country (name) where id in values
UPDATE "Country" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))
