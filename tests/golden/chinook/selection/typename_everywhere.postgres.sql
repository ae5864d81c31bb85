-- chinook
-- Album, Album_aggregate.aggregate
(SELECT 0::int2, t0."ArtistId", NULL::int8 FROM "public"."Album" AS t0 LIMIT $1) UNION ALL SELECT 1::int2, NULL, count(*) FROM "public"."Album" AS t1
