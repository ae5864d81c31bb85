-- postgres
-- equal
SELECT t0."id", t0."folded" FROM "public"."scalar" AS t0 WHERE t0."folded" = $1 ORDER BY t0."id"

-- like
SELECT t0."id", t0."folded" FROM "public"."scalar" AS t0 WHERE t0."folded" LIKE $1 ORDER BY t0."id"
