-- permissions
-- harbour
SELECT t0."id" FROM "harbour" AS t0 ORDER BY t0."id"

-- harbour.boats
SELECT t0."id" FROM "boat" AS t0 WHERE t0."harbour_id" = ?1 ORDER BY t0."id" LIMIT ?2
