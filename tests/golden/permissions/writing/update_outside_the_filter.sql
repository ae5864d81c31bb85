-- permissions
-- boat
UPDATE "boat" AS t0 SET "price" = ?1 WHERE (t0."owner" = ?2 AND t0."owner" IS NOT NULL) AND t0."id" = ?3 RETURNING "boat"."id", weir_check("boat"."price" < ?4)

-- boat
UPDATE "boat" AS t0 SET "price" = ?1 WHERE (t0."owner" = ?2 AND t0."owner" IS NOT NULL) AND t0."name" = ?3 RETURNING weir_check("boat"."price" < ?4)
