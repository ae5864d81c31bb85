-- chinook_hasura
-- Genre
SELECT t0."GenreId", t0."Name" FROM "Genre" AS t0 WHERE (t0."GenreId" IN (SELECT value FROM json_each(?1)) AND t0."Name" IN (SELECT value FROM json_each(?2))) ORDER BY t0."GenreId"
