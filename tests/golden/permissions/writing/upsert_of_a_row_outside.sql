-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES (?1, ?2, ?3, ?4) ON CONFLICT ("name") DO UPDATE SET "price" = excluded."price" WHERE (t0."owner" = ?5 AND t0."owner" IS NOT NULL) RETURNING "boat"."id", weir_check("boat"."price" < ?6)
