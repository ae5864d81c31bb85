-- mutation { insert_Artist(objects: [{ArtistId: 1, Name: "first"}, {ArtistId: 900, Name: "new"}], on_conflict: {constraint: Artist_pkey, update_columns: [Name], where: {Name: {_neq: "first"}}}) { affected_rows returning { ArtistId Name Artist_Albums(order_by: {AlbumId: asc}, limit: 1) { Title } } } }

-- postgresql, yugabytedb
INSERT INTO "public"."Artist" AS t0 ("ArtistId", "Name") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "Artist_pkey" DO UPDATE SET "Name" = excluded."Name" WHERE t0."Name" <> $3 RETURNING "ArtistId", "Name"
-- $1 int4
-- $2 varchar
-- $3 varchar = first
SELECT 0::int2, x.c0, p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL (SELECT t0."Title" AS c0 FROM "public"."Album" AS t0 WHERE t0."ArtistId" = p.k0 ORDER BY t0."AlbumId" LIMIT $2) AS x
-- $1 int4[]
-- $2 int8 = 1

-- cockroachdb
INSERT INTO "public"."Artist" AS t0 ("ArtistId", "Name") VALUES ($1, $2) ON CONFLICT ("ArtistId") DO UPDATE SET "Name" = excluded."Name" WHERE t0."Name" <> $3 RETURNING "ArtistId", "Name"
-- $1 int4
-- $2 varchar
-- $3 varchar = first
SELECT 0::int2, x.c0, x.weir_key_0 FROM (SELECT t0."Title" AS c0, p.n AS weir_key_0, row_number() OVER (PARTITION BY p.n ORDER BY t0."AlbumId") AS weir_place FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0) AS x WHERE x.weir_place <= coalesce($2, 9223372036854775807) ORDER BY x.weir_place
-- $1 int4[]
-- $2 int8 = 1

-- citus
INSERT INTO "public"."Artist" AS t0 ("ArtistId", "Name") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "Artist_pkey" DO UPDATE SET "Name" = excluded."Name" WHERE t0."Name" <> $3 RETURNING "ArtistId", "Name"
-- $1 int4
-- $2 varchar
-- $3 varchar = first
SELECT 0::int2, x.c0, x.weir_key_0 FROM (SELECT t0."Title" AS c0, p.n AS weir_key_0, row_number() OVER (PARTITION BY p.n ORDER BY t0."AlbumId") AS weir_place FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0) AS x WHERE x.weir_place <= coalesce($2, 9223372036854775807) ORDER BY x.weir_place
-- $1 int4[]
-- $2 int8 = 1
