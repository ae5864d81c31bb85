-- postgres
-- ancestor
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" @> $1

-- descendant
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" <@ $1 ORDER BY t0."id"

-- descendant_any
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" <@ $1

-- ancestor_any
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" @> $1

-- matches
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" ~ $1

-- matches_any
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" ? $1

-- matches_fulltext
SELECT t0."id", t0."path" FROM "public"."scalar" AS t0 WHERE t0."path" @ $1
