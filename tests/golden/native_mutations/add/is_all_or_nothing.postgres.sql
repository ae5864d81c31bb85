-- native_mutations
-- addCountry
SELECT t0."code" FROM "public"."Country" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."id"
