-- native_names
-- asc
SELECT t0."asc" FROM "Part" AS t0 ORDER BY t0."asc" NULLS LAST, t0."id"

-- desc
SELECT t0."desc" FROM "Part" AS t0 ORDER BY t0."desc" DESC NULLS LAST, t0."id"

-- then
SELECT t0."asc" FROM "Part" AS t0 ORDER BY t0."or_at" NULLS LAST, t0."asc" DESC NULLS LAST, t0."id"

-- then_
SELECT t0."desc" FROM "Part" AS t0 ORDER BY (SELECT t1."asc" FROM "Part" AS t1 WHERE t1."id" = t0."then_id" LIMIT 1) NULLS LAST, t0."desc" NULLS LAST, t0."id"

-- has
SELECT t0."name" FROM "Owner" AS t0 ORDER BY (SELECT t1."asc" FROM "Part" AS t1 WHERE t1."id" = t0."has_id" LIMIT 1) DESC NULLS LAST, t0."name" DESC, t0."id"

-- aggregatePart
SELECT min(t0."asc"), max(t0."asc"), sum(t0."asc"), max(t0."desc") FROM "Part" AS t0
