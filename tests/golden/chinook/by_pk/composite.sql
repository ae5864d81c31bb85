-- chinook
-- PlaylistTrack_by_pk
SELECT t0."PlaylistId", t0."TrackId" FROM "PlaylistTrack" AS t0 WHERE (t0."PlaylistId" = ?1 AND t0."TrackId" = ?2)

-- PlaylistTrack_by_pk.PlaylistTrack_Track
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."TrackId" = ?1
