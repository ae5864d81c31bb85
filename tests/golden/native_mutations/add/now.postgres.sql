-- native_mutations
-- addPerson
SELECT t0."email", t0."visits" FROM "public"."Person" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
