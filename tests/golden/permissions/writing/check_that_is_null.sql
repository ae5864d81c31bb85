-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "harbour_id", "owner") VALUES (?1, ?2, ?3) RETURNING weir_check("boat"."price" < ?4)
