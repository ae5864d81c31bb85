-- native_mutations
-- updateLicence
SELECT t0."id" FROM "public"."Licence" AS t0 WHERE t0."number" = $1 ORDER BY t0."id"
