-- postgres
-- scalar
SELECT t0."id" FROM "public"."scalar" AS t0 WHERE t0."path" ? $1
