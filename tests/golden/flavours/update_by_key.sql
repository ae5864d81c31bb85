-- mutation { update_Album_by_pk(pk_columns: {AlbumId: 4}, _set: {Title: "set"}, _inc: {ArtistId: 1}) { Title Album_Artist { Name } Album_Tracks_aggregate { aggregate { count } } } }

-- postgresql, cockroachdb, yugabytedb, citus
UPDATE "public"."Album" AS t0 SET "ArtistId" = t0."ArtistId" + $1, "Title" = $2 WHERE t0."AlbumId" = $3 RETURNING "Title", "ArtistId", "AlbumId"
-- $1 int4 = 1
-- $2 varchar = set
-- $3 int4 = 4
SELECT 0::int2, t0."Name", p.n, NULL::int8 FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."Artist" AS t0 ON t0."ArtistId" = p.k0 UNION ALL SELECT 1::int2, NULL, p.n, count(t1."AlbumId") FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) LEFT JOIN "public"."Track" AS t1 ON t1."AlbumId" = p.k1 GROUP BY p.n
-- $1 int4[]
-- $2 int4[]
