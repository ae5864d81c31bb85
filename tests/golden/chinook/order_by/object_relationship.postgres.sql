-- chinook
-- Album, Album.Album_Artist
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1 FROM "public"."Album" AS t0 ORDER BY (SELECT t1."Name" FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = t0."ArtistId" LIMIT 1) DESC, t0."AlbumId" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t2."Name", t2."ArtistId" FROM "public"."Artist" AS t2 WHERE t2."ArtistId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
