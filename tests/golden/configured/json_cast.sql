-- shop
-- like
SELECT t0."name", t0."doc" FROM "thing" AS t0 WHERE weir_like(?1, weir_document_text(t0."doc"))

-- ilike
SELECT t0."name" FROM "thing" AS t0 WHERE weir_ilike(?1, weir_document_text(t0."doc"))

-- equal
SELECT t0."name" FROM "thing" AS t0 WHERE weir_document_text(t0."doc") = ?1

-- listed
SELECT t0."name" FROM "thing" AS t0 WHERE (weir_document_text(t0."doc") IN (SELECT value FROM json_each(?1)) AND weir_document_text(t0."doc") IS NOT NULL AND weir_json_contains(t0."doc", ?2))

-- empty
SELECT t0."name" FROM "thing" AS t0
