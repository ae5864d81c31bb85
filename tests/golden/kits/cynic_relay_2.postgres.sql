-- kits
-- Album_connection.edges, Album_connection.pageInfo.hasNextPage
(SELECT 0::int2, t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 ORDER BY t0."AlbumId" LIMIT $1) UNION ALL (SELECT 1::int2, NULL, NULL FROM "public"."Album" AS t1 LIMIT $2 OFFSET $3)
