-- chinook
-- a, b, b.Album_Tracks
WITH l1 AS MATERIALIZED (SELECT t1."AlbumId" AS c0 FROM "public"."Album" AS t1 WHERE t1."AlbumId" = $2) SELECT 0::int2, t0."Title", NULL::int4 FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1 UNION ALL SELECT 1::int2, NULL, l1.c0 FROM l1 UNION ALL SELECT 2::int2, x.c0, p.k0 FROM (SELECT l1.c0 AS k0 FROM l1) AS p CROSS JOIN LATERAL (SELECT t2."Name" AS c0 FROM "public"."Track" AS t2 WHERE t2."AlbumId" = p.k0 LIMIT $3) AS x
