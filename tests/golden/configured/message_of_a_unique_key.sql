-- shop
-- maker
INSERT INTO "maker" AS t0 ("name") VALUES (?1) RETURNING "maker"."name"
