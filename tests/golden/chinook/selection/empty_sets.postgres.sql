-- chinook
-- Album, Album_by_pk, none, Album_aggregate.aggregate, Album_aggregate.nodes
(SELECT 0::int2 FROM "public"."Album" AS t0 LIMIT $1) UNION ALL SELECT 1::int2 FROM "public"."Album" AS t1 WHERE t1."AlbumId" = $2 UNION ALL SELECT 2::int2 FROM "public"."Album" AS t2 WHERE t2."AlbumId" = $3 UNION ALL (SELECT 3::int2 FROM (SELECT t3.* FROM "public"."Album" AS t3 LIMIT $4) AS t5) UNION ALL (SELECT 4::int2 FROM "public"."Album" AS t6 LIMIT $5)
