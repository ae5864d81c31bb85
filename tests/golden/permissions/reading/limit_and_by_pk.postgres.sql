-- permissions
-- boat_by_pk
SELECT t0."id" FROM "public"."boat" AS t0 WHERE t0."id" = $1
