-- chinook
-- Album, Album.Album_Tracks
WITH l0 AS MATERIALIZED (SELECT t0."ArtistId" AS c0, t0."AlbumId" AS c1 FROM "public"."Album" AS t0 ORDER BY t0."AlbumId" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, p.k0, NULL FROM (SELECT l0.c1 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT 1 FROM "public"."Track" AS t1 WHERE t1."AlbumId" = p.k0 LIMIT $2) AS x
