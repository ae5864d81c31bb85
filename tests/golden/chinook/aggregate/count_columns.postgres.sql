-- chinook
-- Track_aggregate.aggregate
SELECT count(*), count(t0."Composer"), count(DISTINCT t0."AlbumId"), count(DISTINCT (t0."AlbumId", t0."GenreId")) FROM "public"."Track" AS t0
