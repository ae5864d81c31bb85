-- chinook
-- Album_group_by
SELECT t0."ArtistId", count(*) FROM "public"."Album" AS t0 GROUP BY t0."ArtistId" HAVING count(*) > $1 ORDER BY count(*) DESC, t0."ArtistId"
