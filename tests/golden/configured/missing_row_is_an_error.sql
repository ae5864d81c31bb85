-- shop
-- thing
DELETE FROM "thing" AS t0 WHERE t0."id" = ?1 RETURNING "thing"."name"
