-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES (?1, ?2, ?3, ?4) RETURNING "boat"."id", weir_check("boat"."price" < ?5)
