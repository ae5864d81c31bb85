-- chinook
-- Track_aggregate.aggregate
SELECT count(*), count(t0."Composer"), count(DISTINCT t0."AlbumId"), count(DISTINCT quote(t0."AlbumId") || ',' || quote(t0."GenreId")) FROM "Track" AS t0
