-- native_mutations
-- a: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "public"."Person" AS t0 WHERE t0."id" = $1

-- b: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "public"."Person" AS t0 WHERE t0."id" = $1

-- c: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "public"."Person" AS t0 WHERE t0."id" = $1

-- a, b, c
SELECT 0::int2, t0."email" FROM "public"."Person" AS t0 WHERE t0."id" = $1 UNION ALL SELECT 1::int2, t1."email" FROM "public"."Person" AS t1 WHERE t1."id" = $2 UNION ALL SELECT 2::int2, t2."email" FROM "public"."Person" AS t2 WHERE t2."id" = $3
