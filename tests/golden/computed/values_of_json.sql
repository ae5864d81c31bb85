-- computed
-- author
SELECT "public"."facts"(t0.*), "public"."facts"(t0.*) #> $1 FROM "public"."author" AS t0 ORDER BY t0."id"
