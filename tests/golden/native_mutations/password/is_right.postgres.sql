-- native_mutations
-- checkPersonPassword: find id, password of Person where id = value
SELECT t0."id", t0."password" FROM "public"."Person" AS t0 WHERE t0."id" = $1

-- checkPersonPassword
SELECT t0."email", t0."nick" FROM "public"."Person" AS t0 WHERE t0."id" = $1
