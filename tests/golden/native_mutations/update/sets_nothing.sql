-- native_mutations
-- none
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- empty
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- ignored
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- removed
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1 ORDER BY t0."id"

-- same: find id of City where name = value
SELECT t0."id" FROM "City" AS t0 WHERE t0."name" = ?1

-- same: update rows of City (name) where id in values
UPDATE "City" AS t0 SET "name" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))
