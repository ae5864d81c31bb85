-- native_mutations
-- addCat.cat
SELECT t0."name", t0."lives" FROM "Cat" AS t0 WHERE t0."id" IN (SELECT value FROM json_each(?1)) ORDER BY t0."id"
