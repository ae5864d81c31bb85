-- native_mutations
-- a
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- a: update rows of Person (visits, mood) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1, "mood" = ?2 WHERE t0."id" IN (SELECT value FROM json_each(?3))

-- a.person
SELECT t0."visits", t0."mood" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"

-- b
SELECT t0."id" FROM "Person" AS t0 WHERE t0."nick" = ?1 ORDER BY t0."id"

-- b: update rows of Person (visits) where id in values
UPDATE "Person" AS t0 SET "visits" = ?1 WHERE t0."id" IN (SELECT value FROM json_each(?2))

-- b.person
SELECT t0."visits", t0."mood" FROM "Person" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
