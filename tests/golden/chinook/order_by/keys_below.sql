-- chinook
-- Album
SELECT t0."Title", t0."ArtistId" FROM "Album" AS t0 ORDER BY (SELECT t1."Name" FROM "Artist" AS t1 WHERE t1."ArtistId" = t0."ArtistId" LIMIT 1) DESC NULLS FIRST, (SELECT t2."ArtistId" FROM "Artist" AS t2 WHERE t2."ArtistId" = t0."ArtistId" LIMIT 1) NULLS LAST, t0."Title" LIMIT ?1

-- Artist
SELECT t0."Name" FROM "Artist" AS t0 ORDER BY (SELECT max(t1."Title") FROM "Album" AS t1 WHERE t1."ArtistId" = t0."ArtistId") DESC NULLS FIRST, (SELECT count(*) FROM "Album" AS t2 WHERE t2."ArtistId" = t0."ArtistId"), t0."Name" NULLS LAST LIMIT ?1
