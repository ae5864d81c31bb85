-- postgres
-- scalar_by_pk
SELECT t0."document", t0."document" #> $1, t0."document" #> $2, t0."binary_document" #> $3, t0."binary_document" #> $4 FROM "public"."scalar" AS t0 WHERE t0."id" = $5
