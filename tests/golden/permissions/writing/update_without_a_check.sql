-- permissions
-- boat
UPDATE "boat" AS t0 SET "buyer" = ?1, "sold_at" = ?2 WHERE t0."price" < ?3 AND t0."id" = ?4 RETURNING "boat"."id", "boat"."name"
