-- shop
-- thing
INSERT INTO "thing" AS t0 ("id", "name", "doc") VALUES (?1, ?2, ?3) RETURNING "thing"."name", "thing"."doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = iif(weir_is_binary_json(t0."doc"), jsonb(?1), weir_kept_document(?1, t0."doc")) WHERE t0."id" = ?2 RETURNING "thing"."doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = iif(weir_is_binary_json(t0."doc"), jsonb(weir_json_concat(t0."doc", ?1)), weir_kept_document(weir_json_concat(t0."doc", ?1), t0."doc")) WHERE t0."id" = ?2 RETURNING "thing"."doc"

-- thing
UPDATE "thing" AS t0 SET "doc" = iif(weir_is_binary_json(t0."doc"), jsonb(weir_json_concat(?1, t0."doc")), weir_kept_document(weir_json_concat(?1, t0."doc"), t0."doc")) WHERE t0."id" = ?2 RETURNING "thing"."doc"
