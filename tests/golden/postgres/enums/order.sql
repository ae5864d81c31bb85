-- postgres
-- scalar
SELECT t0."id", t0."feeling" FROM "public"."scalar" AS t0 WHERE t0."feeling" = ANY($1) ORDER BY t0."feeling" DESC NULLS LAST
