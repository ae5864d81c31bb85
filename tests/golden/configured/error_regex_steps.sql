-- shop
-- thing
SELECT t0."name" FROM "thing" AS t0 WHERE weir_iregex(?1, weir_document_text(t0."doc"))
