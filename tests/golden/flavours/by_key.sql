-- { Album_by_pk(AlbumId: 1) { Title AlbumId } }

-- postgresql, cockroachdb, yugabytedb, citus
SELECT t0."Title", t0."AlbumId" FROM "public"."Album" AS t0 WHERE t0."AlbumId" = $1
-- $1 int4 = 1
-- for many at once:
SELECT p.n, t0."Title", t0."AlbumId" FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Album" AS t0 ON t0."AlbumId" = p.k0
-- $1 int4[]
