-- chinook
-- Album
SELECT t0."AlbumId", t0."Title" FROM "public"."Album" AS t0 WHERE (t0."AlbumId" < $1 AND EXISTS (SELECT 1 FROM "public"."Track" AS t1 WHERE t1."AlbumId" = t0."AlbumId" AND EXISTS (SELECT 1 FROM "public"."Genre" AS t2 WHERE t2."GenreId" = t1."GenreId" AND EXISTS (SELECT 1 FROM "public"."Track" AS t3 WHERE t3."GenreId" = t2."GenreId" AND t3."Name" = $2)))) ORDER BY t0."AlbumId" LIMIT $3
