-- postgres
-- car
SELECT t0."id", t0."color" FROM "public"."car" AS t0 WHERE t0."color" = ANY($1)
