-- permissions
-- boat
INSERT INTO "boat" AS t0 ("name", "price", "harbour_id", "owner") VALUES (?1, ?2, ?3, ?4) RETURNING "boat"."owner", "boat"."id", weir_check("boat"."price" < ?5)

-- crew
INSERT INTO "crew" AS t0 ("name", "boat_id") VALUES (?1, ?2) RETURNING weir_check("crew"."name" <> ?3)

-- insert_boat_one.crews
SELECT t0."name" FROM "crew" AS t0 WHERE t0."boat_id" = ?1 ORDER BY t0."id"
