-- chinook
-- Album
SELECT t0."AlbumId", t0."Title", t0."ArtistId" FROM "public"."Album" AS t0 LIMIT $1
