-- permissions
-- crew
INSERT INTO "crew" AS t0 ("name", "boat_id") VALUES (?1, ?2) RETURNING 1
