-- { Album(order_by: {AlbumId: asc}, limit: 2) { Title Album_Artist { Name } } }

-- postgresql, yugabytedb, citus
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1 FROM "public"."Album" AS t0 ORDER BY t0."AlbumId" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."ArtistId" FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
-- $1 int8 = 2

-- cockroachdb
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1 FROM "public"."Album" AS t0 ORDER BY t0."AlbumId" LIMIT $1) SELECT 0::int2, l0.c0, l0.c1 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."ArtistId" FROM (SELECT DISTINCT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Artist" AS t1 ON t1."ArtistId" = p.k0
-- $1 int8 = 2
