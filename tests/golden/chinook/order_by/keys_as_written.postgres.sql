-- chinook
-- Track
SELECT t0."Name", t0."AlbumId" FROM "public"."Track" AS t0 ORDER BY t0."Name" DESC, t0."AlbumId", t0."TrackId" LIMIT $1
