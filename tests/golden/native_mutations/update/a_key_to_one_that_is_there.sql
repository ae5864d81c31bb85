-- native_mutations
-- updateCountry
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1 ORDER BY t0."id"

-- updateCountry: find id of Country where code = value
SELECT t0."id" FROM "Country" AS t0 WHERE t0."code" = ?1

-- updateCountry: update rows of Country (code) where id in values
UPDATE "Country" AS t0 SET "code" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))
