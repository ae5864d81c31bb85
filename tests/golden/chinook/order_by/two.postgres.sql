-- chinook
-- Track
SELECT t0."AlbumId", t0."Name" FROM "public"."Track" AS t0 ORDER BY t0."AlbumId" DESC, t0."Name" LIMIT $1
