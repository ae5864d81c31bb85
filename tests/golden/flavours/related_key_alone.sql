-- { Album(limit: 2) { Album_Artist { ArtistId } } }

-- postgresql, cockroachdb, yugabytedb, citus
SELECT t0."ArtistId" FROM "public"."Album" AS t0 LIMIT $1
-- $1 int8 = 2
