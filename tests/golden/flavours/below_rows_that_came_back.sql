-- mutation { delete_Artist(where: {Name: {_is_null: true}}) { returning { Name Artist_Albums(order_by: {Title: asc}, limit: 2) { Title Album_Tracks { Name } } Artist_Albums_aggregate { aggregate { count } } } } }

-- postgresql, yugabytedb
DELETE FROM "public"."Artist" AS t0 WHERE t0."Name" IS NULL RETURNING "Name", "ArtistId"
WITH l0 AS MATERIALIZED (SELECT x.c0 AS c0, x.c1 AS c1, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."Title" AS c0, t0."AlbumId" AS c1 FROM "public"."Album" AS t0 WHERE t0."ArtistId" = p.k0 ORDER BY t0."Title" LIMIT $2) AS x) SELECT 0::int2, l0.c0, l0.c1, l0.k0, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."AlbumId", NULL, NULL FROM "public"."Track" AS t1 WHERE t1."AlbumId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, NULL, NULL, p.n, count(t2."ArtistId") FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."Album" AS t2 ON t2."ArtistId" = p.k0 GROUP BY p.n
-- $1 int4[]
-- $2 int8 = 2

-- cockroachdb
DELETE FROM "public"."Artist" AS t0 WHERE t0."Name" IS NULL RETURNING "Name", "ArtistId"
WITH l0 AS MATERIALIZED (SELECT x.c0 AS c0, x.c1 AS c1, x.weir_key_0 AS k0 FROM (SELECT t0."Title" AS c0, t0."AlbumId" AS c1, p.n AS weir_key_0, row_number() OVER (PARTITION BY p.n ORDER BY t0."Title") AS weir_place FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0) AS x WHERE x.weir_place <= coalesce($2, 9223372036854775807) ORDER BY x.weir_place) SELECT 0::int2, l0.c0, l0.c1, l0.k0, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."AlbumId", NULL, NULL FROM (SELECT DISTINCT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Track" AS t1 ON t1."AlbumId" = p.k0 UNION ALL SELECT 2::int2, NULL, NULL, p.n, count(t2."ArtistId") FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."Album" AS t2 ON t2."ArtistId" = p.k0 GROUP BY p.n
-- $1 int4[]
-- $2 int8 = 2

-- citus
DELETE FROM "public"."Artist" AS t0 WHERE t0."Name" IS NULL RETURNING "Name", "ArtistId"
WITH l0 AS MATERIALIZED (SELECT x.c0 AS c0, x.c1 AS c1, x.weir_key_0 AS k0 FROM (SELECT t0."Title" AS c0, t0."AlbumId" AS c1, p.n AS weir_key_0, row_number() OVER (PARTITION BY p.n ORDER BY t0."Title") AS weir_place FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0) AS x WHERE x.weir_place <= coalesce($2, 9223372036854775807) ORDER BY x.weir_place) SELECT 0::int2, l0.c0, l0.c1, l0.k0, NULL::int8 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."AlbumId", NULL, NULL FROM "public"."Track" AS t1 WHERE t1."AlbumId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0)) UNION ALL SELECT 2::int2, NULL, NULL, p.n, count(t2."ArtistId") FROM unnest($1) WITH ORDINALITY AS p(k0, n) LEFT JOIN "public"."Album" AS t2 ON t2."ArtistId" = p.k0 GROUP BY p.n
-- $1 int4[]
-- $2 int8 = 2
