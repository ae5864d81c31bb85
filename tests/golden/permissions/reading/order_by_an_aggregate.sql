-- permissions
-- harbour
SELECT t0."name" FROM "harbour" AS t0 ORDER BY (SELECT max(t1."name") FROM "boat" AS t1 WHERE t1."harbour_id" = t0."id" AND (t1."owner" = ?1 AND t1."owner" IS NOT NULL)) DESC NULLS FIRST
