-- chinook
-- Album
SELECT DISTINCT ON (t0."ArtistId") t0."ArtistId", t0."Title" FROM "public"."Album" AS t0 ORDER BY t0."ArtistId", t0."Title" DESC LIMIT $1
