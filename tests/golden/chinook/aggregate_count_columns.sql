-- chinook
-- Track_aggregate.aggregate
SELECT count(*), count(t0."Composer"), count(DISTINCT t0."AlbumId"), count(DISTINCT CASE WHEN t0."AlbumId" IS NOT NULL AND t0."GenreId" IS NOT NULL THEN quote(t0."AlbumId") || ',' || quote(t0."GenreId") END) FROM "Track" AS t0
