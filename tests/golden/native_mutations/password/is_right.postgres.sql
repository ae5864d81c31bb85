-- native_mutations
-- checkPersonPassword
SELECT t0."email", t0."nick" FROM "public"."Person" AS t0 WHERE t0."id" = $1
