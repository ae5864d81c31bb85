-- chinook
-- Track
SELECT t0."AlbumId", t0."Name" FROM "Track" AS t0 ORDER BY t0."AlbumId" DESC NULLS FIRST, t0."Name" LIMIT ?1
