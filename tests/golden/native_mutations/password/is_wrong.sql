-- native_mutations
-- a: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "Person" AS t0 WHERE t0."id" = ?1

-- b: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "Person" AS t0 WHERE t0."id" = ?1

-- a
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- b
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1

-- c
SELECT t0."email" FROM "Person" AS t0 WHERE t0."id" = ?1
