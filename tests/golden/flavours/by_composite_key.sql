-- { PlaylistTrack_by_pk(PlaylistId: 1, TrackId: 3402) { TrackId } }

-- postgresql, cockroachdb, yugabytedb, citus
SELECT t0."TrackId" FROM "public"."PlaylistTrack" AS t0 WHERE (t0."PlaylistId" = $1 AND t0."TrackId" = $2)
-- $1 int4 = 1
-- $2 int4 = 3402
-- for many at once:
SELECT p.n, t0."TrackId" FROM unnest($1, $2) WITH ORDINALITY AS p(k0, k1, n) JOIN "public"."PlaylistTrack" AS t0 ON (t0."PlaylistId" = p.k0 AND t0."TrackId" = p.k1)
-- $1 int4[]
-- $2 int4[]
