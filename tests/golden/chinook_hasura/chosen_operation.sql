-- chinook_hasura
-- Genre_by_pk
SELECT t0."Name" FROM "Genre" AS t0 WHERE t0."GenreId" = ?1
