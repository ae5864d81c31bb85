-- chinook
-- Album
SELECT t0."ArtistId" FROM "Album" AS t0 LIMIT ?1

-- Album.Album_Artist
SELECT 1 FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1

-- Album_aggregate.aggregate
SELECT count(*) FROM "Album" AS t0
