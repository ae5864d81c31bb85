-- chinook
-- Album
UPDATE "Album" AS t0 SET "Title" = ?1 WHERE t0."ArtistId" = ?2 RETURNING "Album"."AlbumId", "Album"."Title"
