-- postgres
-- list
SELECT t0."id" FROM "public"."list" AS t0 WHERE t0."id" = ANY($1)
