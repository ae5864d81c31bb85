-- native_mutations
-- a
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- b
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1
