-- relay
-- boat
INSERT INTO "boat" AS t0 ("name", "country", "code", "owner") VALUES (?1, ?2, ?3, ?4) RETURNING "boat"."id", "boat"."name", "boat"."owner"
