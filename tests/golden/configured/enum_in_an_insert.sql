-- shop
-- thing
INSERT INTO "thing" AS t0 ("name", "color", "stock") VALUES (?1, ?2, ?3) RETURNING "thing"."name", "thing"."color", "thing"."stock"
