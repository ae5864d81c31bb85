-- chinook
-- Album_by_pk
SELECT t0."AlbumId" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1

-- Album_by_pk.a
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 ORDER BY t0."TrackId" LIMIT ?2

-- Album_by_pk.b
SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1 ORDER BY t0."TrackId" LIMIT ?2
