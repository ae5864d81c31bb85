-- permissions
-- harbour
SELECT t0."name" FROM "harbour" AS t0 WHERE NOT (EXISTS (SELECT 1 FROM "boat" AS t1 WHERE t1."harbour_id" = t0."id" AND (t1."owner" = ?1 AND t1."owner" IS NOT NULL) AND t1."id" = ?2))
