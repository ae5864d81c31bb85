-- chinook
-- Album
SELECT 1 FROM "Album" AS t0 LIMIT ?1

-- Album_by_pk
SELECT 1 FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- none
SELECT 1 FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- Album_aggregate.aggregate
SELECT count(*) FROM (SELECT t0.* FROM "Album" AS t0 LIMIT ?1) AS t2

-- Album_aggregate.nodes
SELECT 1 FROM "Album" AS t0 LIMIT ?1
