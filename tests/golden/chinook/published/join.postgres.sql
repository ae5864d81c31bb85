-- chinook
-- Album, Album.Album_Artist.Artist_Albums, Album.Album_Tracks
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1, t0."AlbumId" AS c2 FROM "public"."Album" AS t0 LIMIT $1) SELECT 0::int2, l0.c0, l0.c1, l0.c2, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, t1."Title", t1."ArtistId", NULL, NULL FROM "public"."Album" AS t1 WHERE t1."ArtistId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, t2."Composer", t2."AlbumId", NULL, t2."Name" FROM "public"."Track" AS t2 WHERE t2."AlbumId" = ANY(ARRAY(SELECT l0.c2 FROM l0))
