-- chinook
-- one
SELECT t0."Milliseconds", t0."AlbumId" FROM "Track" AS t0 ORDER BY t0."Milliseconds", t0."AlbumId" NULLS LAST LIMIT ?1

-- other
SELECT t0."Milliseconds", t0."AlbumId" FROM "Track" AS t0 ORDER BY t0."AlbumId" DESC NULLS FIRST, t0."Milliseconds" DESC LIMIT ?1
