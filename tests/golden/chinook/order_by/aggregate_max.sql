-- chinook
-- Album
SELECT t0."AlbumId" FROM "Album" AS t0 ORDER BY (SELECT max(t1."Milliseconds") FROM "Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId") DESC NULLS FIRST, t0."AlbumId" LIMIT ?1
