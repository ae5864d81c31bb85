-- shelter
-- pet
INSERT INTO "pet" AS t0 ("id", "name") VALUES (?1, ?2) RETURNING "pet"."id", "pet"."name"

-- shop
-- pet
INSERT INTO "pet" AS t0 ("name", "kind") VALUES (?1, ?2) ON CONFLICT ("name") DO UPDATE SET "kind" = excluded."kind" RETURNING "pet"."id", "pet"."name", "pet"."price", "pet"."kind"

-- pet
UPDATE "pet" AS t0 SET "price" = weir_add(t0."price", ?1, NULL) WHERE t0."id" = ?2 RETURNING "pet"."price"
