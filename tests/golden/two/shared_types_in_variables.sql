-- shelter
-- pet
SELECT t0."name", t0."facts" FROM "pet" AS t0 WHERE (t0."name" IN (SELECT value FROM json_each(?1)) AND weir_json_contains(t0."facts", ?2)) ORDER BY t0."id" DESC

-- cast
SELECT t0."name" FROM "pet" AS t0 WHERE weir_document_text(t0."facts") IN (SELECT value FROM json_each(?1))

-- shop
-- shop_pet_x
SELECT t0."name", t0."kind" FROM "pet" AS t0 WHERE (t0."name" IN (SELECT value FROM json_each(?1)) AND t0."kind" IN (SELECT value FROM json_each(?2))) ORDER BY t0."id" DESC
