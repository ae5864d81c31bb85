-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE (t0."AlbumId" < $1 AND t0."ArtistId" <> $2) ORDER BY t0."AlbumId" LIMIT $3
