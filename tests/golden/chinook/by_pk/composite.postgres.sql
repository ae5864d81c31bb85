-- chinook
-- PlaylistTrack_by_pk, PlaylistTrack_by_pk.PlaylistTrack_Track
WITH l0 AS MATERIALIZED (SELECT t0."PlaylistId" AS c0, t0."TrackId" AS c1 FROM "public"."PlaylistTrack" AS t0 WHERE (t0."PlaylistId" = $1 AND t0."TrackId" = $2)) SELECT 0::int2, l0.c0, l0.c1, NULL::varchar FROM l0 UNION ALL SELECT 1::int2, t1."TrackId", NULL, t1."Name" FROM "public"."Track" AS t1 WHERE t1."TrackId" = ANY(ARRAY(SELECT DISTINCT l0.c1 FROM l0))
