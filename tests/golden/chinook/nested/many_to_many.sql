-- chinook
-- Playlist
SELECT t0."Name", t0."PlaylistId" FROM "Playlist" AS t0 WHERE t0."Name" = ?1

-- Playlist.Playlist_PlaylistTracks
SELECT t0."TrackId" FROM "PlaylistTrack" AS t0 WHERE t0."PlaylistId" = ?1 ORDER BY t0."TrackId" LIMIT ?2

-- Playlist.Playlist_PlaylistTracks.PlaylistTrack_Track
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."TrackId" = ?1
