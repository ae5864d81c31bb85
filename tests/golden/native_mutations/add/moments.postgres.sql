-- native_mutations
-- addCity
SELECT t0."name", t0."founded" FROM "public"."City" AS t0 WHERE t0."id" = ANY($1) ORDER BY t0."name", t0."id"
