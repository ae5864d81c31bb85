-- { Album(limit: 100) { AlbumId Title ArtistId } }

-- postgresql, cockroachdb, yugabytedb, citus
SELECT t0."AlbumId", t0."Title", t0."ArtistId" FROM "public"."Album" AS t0 LIMIT $1
-- $1 int8 = 100
