-- shelter
-- pet
SELECT t0."id", t0."name", t0."age" FROM "pet" AS t0 ORDER BY t0."age" DESC NULLS LAST LIMIT ?1

-- pet_by_pk
SELECT t0."name", t0."id" FROM "pet" AS t0 WHERE t0."id" = ?1

-- pet_by_pk.pet_keepers
SELECT t0."name" FROM "keeper" AS t0 WHERE t0."pet" = ?1 ORDER BY t0."name" DESC

-- shop
-- shop_pet_x
SELECT t0."id", t0."name", t0."price", t0."kind" FROM "pet" AS t0 WHERE (weir_ilike(?1, t0."name") AND t0."kind" <> ?2) ORDER BY t0."price" NULLS LAST

-- shop_pet_by_pk_x
SELECT t0."name" FROM "pet" AS t0 WHERE t0."id" = ?1

-- shop_pet_aggregate_x.aggregate
SELECT count(*), max(t0."price") FROM "pet" AS t0
