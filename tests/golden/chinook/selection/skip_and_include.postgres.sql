-- chinook
-- Album, Album.Album_Artist
WITH l0 AS MATERIALIZED (SELECT t0."AlbumId" AS c0, t0."ArtistId" AS c1 FROM "public"."Album" AS t0 LIMIT $1) SELECT 0::int2, l0.c0, l0.c1, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, t1."ArtistId", NULL, t1."Name" FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
