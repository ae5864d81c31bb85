-- permissions
-- harbour
SELECT t0."name", t0."id" FROM "harbour" AS t0 ORDER BY t0."id"

-- harbour.boats_aggregate.aggregate
SELECT count(*), max(t0."name") FROM "boat" AS t0 WHERE t0."harbour_id" = ?1 AND (t0."owner" = ?2 AND t0."owner" IS NOT NULL)
