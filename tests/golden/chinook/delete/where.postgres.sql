-- chinook
-- PlaylistTrack
DELETE FROM "public"."PlaylistTrack" AS t0 WHERE t0."PlaylistId" = $1 RETURNING "TrackId", "PlaylistId"

-- delete_PlaylistTrack
SELECT 0::int2, t0."Name", p.n FROM unnest($1) WITH ORDINALITY AS p(k0, n) JOIN "public"."Playlist" AS t0 ON t0."PlaylistId" = p.k0
