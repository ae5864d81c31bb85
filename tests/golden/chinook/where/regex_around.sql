-- chinook
-- without
SELECT t0."Title" FROM "Album" AS t0 WHERE weir_iregex(?1, t0."Title") ORDER BY t0."AlbumId"

-- both
SELECT t0."Title" FROM "Album" AS t0 WHERE weir_iregex(?1, t0."Title") ORDER BY t0."AlbumId"

-- twice
SELECT t0."Name" FROM "Artist" AS t0 WHERE weir_regex(?1, t0."Name") ORDER BY t0."ArtistId"

-- behind
SELECT t0."Name" FROM "Genre" AS t0 WHERE weir_regex(?1, t0."Name") ORDER BY t0."GenreId"

-- neither
SELECT t0."Name" FROM "Genre" AS t0 WHERE (NOT weir_iregex(?1, t0."Name") AND NOT weir_regex(?2, t0."Name")) ORDER BY t0."GenreId"
