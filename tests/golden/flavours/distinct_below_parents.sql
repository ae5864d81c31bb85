-- { Artist(where: {ArtistId: {_in: [1, 2, 90]}}) { Name Artist_Albums(distinct_on: Title, order_by: [{Title: asc}, {AlbumId: desc}], limit: 2) { AlbumId Title } } }

-- postgresql, yugabytedb
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" = ANY($1)) SELECT 0::int2, l0.c0, l0.c1, NULL::int4 FROM l0 UNION ALL SELECT 1::int2, x.c1, x.c0, p.k0 FROM (SELECT l0.c1 AS k0 FROM l0) AS p CROSS JOIN LATERAL (SELECT DISTINCT ON (t1."Title") t1."AlbumId" AS c0, t1."Title" AS c1 FROM "public"."Album" AS t1 WHERE t1."ArtistId" = p.k0 ORDER BY t1."Title", t1."AlbumId" DESC LIMIT $2) AS x
-- $1 int4[] = {"1","2","90"}
-- $2 int8 = 2

-- cockroachdb, citus
WITH l0 AS MATERIALIZED (SELECT t0."Name" AS c0, t0."ArtistId" AS c1 FROM "public"."Artist" AS t0 WHERE t0."ArtistId" = ANY($1)) SELECT 0::int2, l0.c0, l0.c1, NULL::int4 FROM l0 UNION ALL (SELECT 1::int2, x.c1, x.c0, x.weir_key_0 FROM (SELECT y.*, row_number() OVER (PARTITION BY y.weir_key_0 ORDER BY y.weir_order_0, y.weir_order_1 DESC) AS weir_place FROM (SELECT t1."AlbumId" AS c0, t1."Title" AS c1, p.k0 AS weir_key_0, t1."Title" AS weir_order_0, t1."AlbumId" AS weir_order_1, row_number() OVER (PARTITION BY p.k0, t1."Title" ORDER BY t1."Title", t1."AlbumId" DESC) AS weir_first FROM (SELECT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Album" AS t1 ON t1."ArtistId" = p.k0) AS y WHERE y.weir_first = 1) AS x WHERE x.weir_place <= coalesce($2, 9223372036854775807) ORDER BY x.weir_place)
-- $1 int4[] = {"1","2","90"}
-- $2 int8 = 2
