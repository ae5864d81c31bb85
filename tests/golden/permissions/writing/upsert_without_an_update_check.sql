-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "price", "harbour_id") VALUES (weir_begin_upsert(?1), ?2, ?3) ON CONFLICT ("name") DO UPDATE SET "price" = excluded."price" WHERE CASE WHEN t0."price" > ?4 THEN weir_mark_update() ELSE 0 END RETURNING weir_check(CASE WHEN weir_is_updated() THEN ("boat"."price" < ?5 AND "boat"."price" > ?4) ELSE "boat"."price" < ?5 END)
