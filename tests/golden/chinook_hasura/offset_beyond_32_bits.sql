-- chinook_hasura
-- literal
SELECT t0."Name" FROM "Genre" AS t0 LIMIT -1 OFFSET ?1

-- text
SELECT t0."Name" FROM "Genre" AS t0 LIMIT ?1 OFFSET ?2

-- largest
SELECT t0."Name" FROM "Genre" AS t0 ORDER BY t0."Name" NULLS LAST LIMIT ?1 OFFSET ?2

-- Artist
SELECT t0."Name", t0."ArtistId" FROM "Artist" AS t0 ORDER BY t0."ArtistId" LIMIT ?1

-- Artist.Artist_Albums
SELECT t0."Title" FROM "Album" AS t0 WHERE t0."ArtistId" = ?1 LIMIT -1 OFFSET ?2

-- Album_aggregate.aggregate
SELECT count(*) FROM (SELECT t0.* FROM "Album" AS t0 LIMIT -1 OFFSET ?1) AS t2

-- Album_group_by
SELECT t0."ArtistId" FROM "Album" AS t0 GROUP BY t0."ArtistId" LIMIT -1 OFFSET ?1

-- page
SELECT t0."Name" FROM "Genre" AS t0 ORDER BY t0."GenreId" LIMIT ?1 OFFSET ?2
