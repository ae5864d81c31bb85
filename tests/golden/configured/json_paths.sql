-- shop
-- thing
SELECT (t0."doc" -> ?1), (t0."doc" -> ?2), (t0."doc" -> ?3), (t0."doc" -> ?4) FROM "thing" AS t0 WHERE t0."doc" IS NOT NULL ORDER BY t0."id"
