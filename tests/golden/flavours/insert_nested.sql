-- mutation { insert_Artist_one(object: {Name: "over", Artist_Albums: {data: [{Title: "below a"}, {Title: "below b"}], on_conflict: {constraint: Album_pkey, update_columns: [Title]}}}) { Name Artist_Albums(order_by: {Title: asc}) { Title Album_Artist { Name } } } }

-- postgresql, yugabytedb, citus
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "Name", "ArtistId"
-- $1 varchar
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) ON CONFLICT ON CONSTRAINT "Album_pkey" DO UPDATE SET "Title" = excluded."Title" RETURNING 1
-- $1 varchar
-- $2 int4
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0 ORDER BY t0."Title") SELECT 0::int2, l0.c0, l0.c1, l0.k0 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."ArtistId", NULL FROM "public"."Artist" AS t1 WHERE t1."ArtistId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
-- $1 int4[]

-- cockroachdb
INSERT INTO "public"."Artist" AS t0 ("Name") VALUES ($1) RETURNING "Name", "ArtistId"
-- $1 varchar
INSERT INTO "public"."Album" AS t0 ("Title", "ArtistId") VALUES ($1, $2) ON CONFLICT ("AlbumId") DO UPDATE SET "Title" = excluded."Title" RETURNING 1
-- $1 varchar
-- $2 int4
WITH l0 AS MATERIALIZED (SELECT t0."Title" AS c0, t0."ArtistId" AS c1, p.n AS k0 FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."ArtistId" = p.k0 ORDER BY t0."Title") SELECT 0::int2, l0.c0, l0.c1, l0.k0 FROM l0 UNION ALL SELECT 1::int2, t1."Name", t1."ArtistId", NULL FROM (SELECT DISTINCT l0.c1 AS k0 FROM l0) AS p JOIN "public"."Artist" AS t1 ON t1."ArtistId" = p.k0
-- $1 int4[]
