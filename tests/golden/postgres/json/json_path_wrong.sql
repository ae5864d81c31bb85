-- postgres
-- scalar_by_pk
SELECT t0."document" #> $1 FROM "public"."scalar" AS t0 WHERE t0."id" = $2
