-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "price", "harbour_id") VALUES (?1, ?2, ?3) ON CONFLICT ("name") DO UPDATE SET "price" = excluded."price" WHERE t0."price" > ?4 RETURNING weir_check("boat"."price" < ?5)
