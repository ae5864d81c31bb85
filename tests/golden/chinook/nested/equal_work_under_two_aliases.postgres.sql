-- chinook
-- Album_by_pk, Album_by_pk.a
WITH l0 AS MATERIALIZED (SELECT t0."AlbumId" AS c0 FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1) SELECT 0::int2, l0.c0, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, p.k0, x.c0 FROM (SELECT l0.c0 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT t1."Name" AS c0 FROM "public"."Track" AS t1 WHERE t1."AlbumId" = p.k0 ORDER BY t1."TrackId" LIMIT $2) AS x
