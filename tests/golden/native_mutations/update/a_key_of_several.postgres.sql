-- native_mutations
-- updateCountry
SELECT t0."id" FROM "public"."Country" AS t0 ORDER BY t0."id"
