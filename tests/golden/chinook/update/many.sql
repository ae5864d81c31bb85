-- chinook
-- Album
UPDATE "Album" AS t0 SET "Title" = ?1 WHERE t0."AlbumId" = ?2 RETURNING "Album"."AlbumId", "Album"."Title"

-- Album
UPDATE "Album" AS t0 SET "Title" = ?1 WHERE t0."AlbumId" < ?2 RETURNING "Album"."AlbumId", "Album"."Title"
