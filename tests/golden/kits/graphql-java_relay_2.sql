-- kits
-- Album_connection.edges
SELECT t0."AlbumId", t0."Title" FROM "Album" AS t0 ORDER BY t0."AlbumId" LIMIT ?1

-- Album_connection.pageInfo.hasNextPage
SELECT 1 FROM "Album" AS t0 LIMIT ?1 OFFSET ?2
