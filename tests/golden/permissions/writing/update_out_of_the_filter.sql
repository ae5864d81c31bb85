-- permissions
-- boat
UPDATE "boat" AS t0 SET "price" = ?1 WHERE t0."price" > ?2 RETURNING weir_check("boat"."price" > ?2)
