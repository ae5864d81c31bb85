-- chinook
-- Track_stream
SELECT t0."GenreId", t0."Milliseconds", t0."TrackId", NULL, t0."Name", t0."AlbumId" FROM "Track" AS t0 WHERE (t0."UnitPrice" < ?1 AND (t0."GenreId" <= ?2 AND (t0."GenreId" < ?2 OR (t0."GenreId" = ?2 AND (t0."Milliseconds" > ?3 OR (t0."Milliseconds" = ?3 AND t0."TrackId" > ?4)))))) ORDER BY t0."GenreId" DESC, t0."Milliseconds", t0."TrackId" LIMIT ?5

-- Track_stream.Track_Album
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1
