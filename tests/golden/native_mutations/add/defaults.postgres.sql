-- native_mutations
-- addCat
SELECT t0."name", t0."lives" FROM "public"."Cat" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
