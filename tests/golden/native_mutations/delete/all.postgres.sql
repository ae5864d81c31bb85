-- native_mutations
-- deleteCity
SELECT t0."id" FROM "public"."City" AS t0 ORDER BY t0."id"
