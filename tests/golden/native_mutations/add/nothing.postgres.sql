-- native_mutations
-- addCity
SELECT t0."name" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
