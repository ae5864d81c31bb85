-- shop
-- thing
INSERT INTO "thing" AS t0 ("id", "name", "doc") VALUES (?1, ?2, ?3) RETURNING "name", "doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = ?1 WHERE t0."id" = ?2 RETURNING "doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = weir_json_concat(t0."doc", ?1) WHERE t0."id" = ?2 RETURNING "doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = weir_json_concat(?1, t0."doc") WHERE t0."id" = ?2 RETURNING "doc"
