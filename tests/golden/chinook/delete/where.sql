-- chinook
-- PlaylistTrack
DELETE FROM "PlaylistTrack" AS t0 WHERE t0."PlaylistId" = ?1 RETURNING "PlaylistTrack"."TrackId", "PlaylistTrack"."PlaylistId"

-- delete_PlaylistTrack.returning.PlaylistTrack_Playlist
SELECT t0."Name" FROM "Playlist" AS t0 WHERE t0."PlaylistId" = ?1
