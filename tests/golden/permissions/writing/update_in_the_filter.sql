-- permissions
-- boat
UPDATE "boat" AS t0 SET "price" = ?1 WHERE (t0."owner" = ?2 AND t0."owner" IS NOT NULL) RETURNING "boat"."id", weir_check("boat"."price" < ?3)
